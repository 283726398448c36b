/// Plain numbers in texts, whatever locale the host program has set: 0.5, never 0,5.
#ifndef TALUS_BASE_PLAIN_H
#define TALUS_BASE_PLAIN_H

#include <locale.h>

/// The calling thread's locale, set aside while numbers are plain.
typedef struct plain_numbers {
    locale_t plain, before;
} plain_numbers;

plain_numbers plain_numbers_begin(void);
void plain_numbers_end(plain_numbers n);

#endif
