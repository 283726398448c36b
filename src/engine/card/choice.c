#include "card/choice.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CARD = 999 };

talus_status device_read(const char* text, device_choice* out, talus_error* error)
{
    int card = -1, used = 0;
    *out = (device_choice){.kind = DEVICE_CPU};
    if (!text || strcmp(text, "cpu") == 0) return TALUS_OK;
    if (strcmp(text, "auto") == 0) {
        out->kind = DEVICE_AUTO;
        return TALUS_OK;
    }
    if (strcmp(text, "gpu") == 0) {
        out->kind = DEVICE_GPU;
        return TALUS_OK;
    }
    // Digits only: no sign, no space.
    if (sscanf(text, "gpu:%3d%n", &card, &used) == 1 && text[used] == '\0' &&
        strspn(text + 4, "0123456789") == strlen(text + 4) && card <= MOST_CARD) {
        *out = (device_choice){.kind = DEVICE_GPU, .card = card};
        return TALUS_OK;
    }
    return error_set(error, TALUS_ERR_ARGUMENT,
                     "the device '%.60s' is unknown (expected cpu, gpu, gpu:N for card number N "
                     "from 0 on, or auto)",
                     text);
}
