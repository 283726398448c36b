/// A run in its user's hands: step by step, with whatever the user does to its world in between.
#include "base/definition.h"
#include "base/error.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

talus_status talus_run_open(const talus_run_def* given, bool resumed, talus_run** out,
                            talus_report* report, talus_error* error)
{
    *out = NULL;
    run* r = malloc(sizeof *r);
    if (!r) return error_memory(error, "a run");
    talus_run_def own = talus_run_default();
    talus_status status = DEFINITION_TAKE(run, &own, given, error);
    run_init(r, &r->own);
    r->own = own;
    r->journal.copy = (log_sink){.function = own.log, .user = own.log_user};
    r->steered = true;
    r->extent = CHECKPOINT_WHOLE;
    if (status == TALUS_OK)
        status = resumed ? run_resume(r, report, error) : run_start(r, report, error);
    if (status < 0) {
        run_free(r);
        free(r);
        return status;
    }
    if (r->end == END_NOT_YET) run_prepare(r);
    *out = r;
    return TALUS_OK;
}

talus_world* talus_run_world(talus_run* r)
{
    return r->world;
}

double talus_run_step_length(const talus_run* r)
{
    return schedule_step_length(r);
}

talus_status talus_run_goes_on(talus_run* r, bool* going, talus_error* error)
{
    talus_error failure = {0};
    const talus_status status = r->end == END_NOT_YET ? run_look_ahead(r, &failure) : TALUS_OK;
    *going = status >= 0 && r->end == END_NOT_YET;
    return status < 0 ? run_failed(r, status, &failure, error) : TALUS_OK;
}

talus_status talus_run_step(talus_run* r, bool* stepped, talus_error* error)
{
    talus_error failure = {0};
    *stepped = false;
    if (r->end != END_NOT_YET) return TALUS_OK;
    const talus_status status = run_go_on(r, &failure);
    if (status < 0) return run_failed(r, status, &failure, error);
    *stepped = r->end == END_NOT_YET;
    return TALUS_OK;
}

talus_status talus_run_record(talus_run* r, bool* frame, talus_error* error)
{
    const int64_t before = r->state.frames_written;
    talus_error failure = {0};
    const talus_status status = r->end == END_NOT_YET ? run_record(r, &failure) : TALUS_OK;
    if (frame) *frame = r->state.frames_written > before;
    return status < 0 ? run_failed(r, status, &failure, error) : TALUS_OK;
}

bool talus_run_checkpoint_due(const talus_run* r)
{
    return output_checkpoint_due(r);
}

talus_status talus_run_keep(talus_run* r, const void* bytes, int64_t size, talus_error* error)
{
    if (size < 0 || (size > 0 && !bytes)) {
        return error_set(error, TALUS_ERR_ARGUMENT, "what is to be kept needs bytes and a size");
    }
    unsigned char* copy = malloc((size_t)size + 1);
    if (!copy) return error_memory(error, "what is to be kept");
    if (size > 0) memcpy(copy, bytes, (size_t)size);
    free(r->kept.data);
    r->kept = (checkpoint_bytes){copy, size};
    return TALUS_OK;
}

const void* talus_run_kept(const talus_run* r, int64_t* size)
{
    *size = r->kept.size;
    return r->kept.data;
}

void talus_run_stop(talus_run* r, const char* why)
{
    if (r->end != END_NOT_YET) return;
    r->end = END_STOPPED;
    snprintf(r->stopped_by, sizeof r->stopped_by, "%s", why ? why : "stopped by its user's rule");
}

talus_status talus_run_close(talus_run* r, talus_summary* summary, talus_error* error)
{
    if (!r) return TALUS_OK;
    if (r->owned) talus_run_stop(r, "the program that steps its world has ended the recording");
    if (r->end == END_NOT_YET) r->end = END_INTERRUPTED;
    const talus_status status =
        r->end == END_BEFORE ? run_look_back(r, summary) : run_conclude(r, summary, error);
    run_free(r);
    free(r);
    return status;
}

void talus_run_abandon(talus_run* r)
{
    if (!r) return;
    run_free(r);
    free(r);
}
