#include "world/device.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char ON_CPU[] = "cpu";

talus_status device_set(world_device* d, const char* text, talus_error* error)
{
    device_choice choice;
    TRY(device_read(text, &choice, error));
    device_close(d);
    *d = (world_device){.choice = choice};
    snprintf(d->asked, sizeof d->asked, "%s", text ? text : ON_CPU);
    snprintf(d->used, sizeof d->used, "%s", ON_CPU);
    if (choice.kind == DEVICE_CPU) snprintf(d->reason, sizeof d->reason, "asked for");
    return TALUS_OK;
}

void device_close(world_device* d)
{
    card_close(d->open);
    d->open = d->now = NULL;
}

/// The CPU does the next steps, for this reason; new reasons are told.
static void use_cpu(world_device* d, const char* reason, const log_sink* log)
{
    d->now = NULL;
    snprintf(d->used, sizeof d->used, "%s", ON_CPU);
    if (strcmp(d->reason, reason) == 0) return;
    snprintf(d->reason, sizeof d->reason, "%s", reason);
    log_write(log, d->choice.kind == DEVICE_GPU ? TALUS_LOG_WARNING : TALUS_LOG_INFO,
              "device %s: the CPU does the steps: %s", d->asked, d->reason);
}

static const char* card_reason(const world_device* d)
{
    return d->choice.kind == DEVICE_GPU ? "asked for" : "there are enough grains for it";
}

static void use_card(world_device* d, const log_sink* log)
{
    const card_facts* f = card_facts_of(d->open);
    if (d->now) return;
    d->now = d->open;
    snprintf(d->used, sizeof d->used, "gpu:%d (%s)", f->index, f->name);
    snprintf(d->reason, sizeof d->reason, "%s", card_reason(d));
    d->left = NULL;
    log_write(log, TALUS_LOG_INFO, "device %s: %s does the steps: %s", d->asked, d->used,
              d->reason);
}

void device_shared(world_device* d, const char* why, const log_sink* log)
{
    if (!d->now || d->left == why) return;
    d->left = why;
    snprintf(d->reason, sizeof d->reason, "%s; the CPU solves the contacts of steps in which %s",
             card_reason(d), why);
    log_write(log, d->choice.kind == DEVICE_GPU ? TALUS_LOG_WARNING : TALUS_LOG_INFO,
              "device %s: the CPU solves the contacts of steps in which %s", d->asked, why);
}

static talus_status open_card(world_device* d, talus_error* error)
{
    return d->open ? TALUS_OK : card_open(d->choice.card, &d->open, error);
}

talus_status device_open(world_device* d, talus_error* error)
{
    return d->choice.kind == DEVICE_GPU ? open_card(d, error) : TALUS_OK;
}

talus_status device_prepare(world_device* d, const physical_state* state, card_use use,
                            const log_sink* log, talus_error* error)
{
    talus_error failure = {0};
    char few[160];
    const int64_t least = d->least > 0 ? d->least : use.worth;
    if (d->choice.kind == DEVICE_CPU || d->given_up) return TALUS_OK;
    TRY(device_open(d, error));
    if (use.why_not) {
        use_cpu(d, use.why_not, log);
        return TALUS_OK;
    }
    if (d->choice.kind == DEVICE_AUTO && state->grains.count < least) {
        // Without the number of grains there are: this is told once, however that changes.
        snprintf(few, sizeof few, "a card is worth while from %" PRId64 " grains on", least);
        use_cpu(d, few, log);
        return TALUS_OK;
    }
    if (open_card(d, &failure) < 0) {
        d->given_up = true;
        use_cpu(d, failure.text, log);
        return TALUS_OK;
    }
    use_card(d, log);
    return TALUS_OK;
}

bool device_may_give_up(const world_device* d)
{
    return d->choice.kind == DEVICE_AUTO && !d->given_up;
}

void device_give_up(world_device* d, double time, const talus_error* failure, const log_sink* log)
{
    d->given_up = true;
    device_close(d);
    snprintf(d->used, sizeof d->used, "%s", ON_CPU);
    snprintf(d->reason, sizeof d->reason, "at t = %.9g %s", time, failure->text);
    log_write(log, TALUS_LOG_WARNING, "device %s: the CPU goes on from there: %s", d->asked,
              d->reason);
}
