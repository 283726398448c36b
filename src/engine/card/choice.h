/// What a user says about the device: cpu, gpu, gpu:1 or auto.
#ifndef TALUS_CARD_CHOICE_H
#define TALUS_CARD_CHOICE_H

#include <talus/base.h>

typedef enum device_kind { DEVICE_CPU, DEVICE_GPU, DEVICE_AUTO } device_kind;

typedef struct device_choice {
    device_kind kind;
    int card; ///< of gpu; 0 if no number was given, and for auto
} device_choice;

/// Read it; NULL is the CPU.
talus_status device_read(const char* text, device_choice* out, talus_error* error);

#endif
