/// A run whose claims are false finds out, says so and tightens.
///
/// No scene is known whose claims are false, so they are made so here: this program has a
/// witness_claims() of its own, which the library finds before the real one. It claims 10^-5 of
/// what is true (claims a thousand times too small still held in all 55 audits of one such run:
/// true errors are mostly far smaller than what is claimed). Everything after it is the product:
/// audits, log, totals, verdict.
#include "support.h"

#include "rigid/witness.h"

#include <dlfcn.h>
#include <string.h>
#include <talus/workshop.h>

/// What is claimed of a cluster, in parts of what the certificate says; 1: the truth.
static double honesty = 1.0;

talus_status witness_claims(certificate_work* claims, const problem* p, int threads,
                            witness_work* work, certificate* out)
{
    talus_status (*real)(certificate_work*, const problem*, int, witness_work*, certificate*);
    *(void**)&real = dlsym(RTLD_NEXT, "witness_claims");
    assert_non_null(real);
    const talus_status status = real(claims, p, threads, work, out);
    for (int64_t k = 0; k < claims->clusters.count; k++) claims->of[k].bound *= honesty;
    out->bound *= honesty;
    return status;
}

/// A pile of disks on a floor that shakes, until it does no more, every step solved to TOLERANCE.
static const double TOLERANCE = 0.01;
static const char SCENE[] = "seed: 3\n"
                            "dimension: 2\n"
                            "step: 2.0e-3\n"
                            "gravity: [0, -9.81]\n"
                            "materials:\n"
                            "  stone: {density: 2500, friction: 0.5}\n"
                            "walls:\n"
                            "  - {name: floor, type: plane, point: [0, 0], normal: [0, 1]}\n"
                            "  - {name: left, type: plane, point: [0, 0], normal: [1, 0]}\n"
                            "  - {name: right, type: plane, point: [0.1, 0], normal: [-1, 0]}\n"
                            "grains:\n"
                            "  - {type: fill, region: {low: [0, 0], high: [0.1, 0.1]}, count: 80,\n"
                            "     radius: {distribution: uniform, min: 0.004, max: 0.006}}\n"
                            "solver: {tolerance: 0.01}\n"
                            "phases:\n"
                            "  - set_motion:\n"
                            "      floor: {type: sine, amplitude: [0, 0.004], frequency: 10}\n"
                            "    until: {time: 4.0}\n"
                            "  - set_motion: {floor: {type: velocity, velocity: [0, 0]}}\n"
                            "    until: {time: 5.0}\n";

typedef struct heard {
    int failures; ///< warnings of audits that failed
    char first[512];
    double since;   ///< time of the first of them
    int64_t looser; ///< steps after it whose error is above half of TOLERANCE
    int64_t later;  ///< steps after it in the series
} heard;

static void listen(void* user, talus_log_level level, const char* text)
{
    heard* h = user;
    if (level != TALUS_LOG_WARNING || !strstr(text, "an audit found velocities off by")) return;
    if (h->failures++ > 0) return;
    snprintf(h->first, sizeof h->first, "%s", text);
    assert_int_equal(sscanf(text, "t = %lf", &h->since), 1);
}

/// Count the steps of the series from `since` on, whose own tolerance may still be the old one.
static void look_at_errors(const char* results, heard* h)
{
    talus_error error = {0};
    talus_series series = {0};
    check_ok(talus_series_read(results, &series, &error), error);
    const double* time = talus_series_column(&series, "time");
    const double* errors = talus_series_column(&series, "velocity_error");
    assert_true(time && errors);
    for (int64_t i = 0; i < series.rows; i++) {
        if (time[i] <= h->since + 0.01) continue;
        h->later++;
        h->looser += errors[i] > 0.5 * TOLERANCE;
    }
    talus_series_free(&series);
}

/// Carry the scene out; its summary, and what its audits said while it ran.
static void carry_out(double honest, talus_summary* sum, heard* h)
{
    char folder[] = "/tmp/talus-audit-XXXXXX", scene[128], results[128], command[200];
    talus_error error = {0};
    talus_report report = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(scene, sizeof scene, "%s/scene.yaml", folder);
    snprintf(results, sizeof results, "%s/run", folder);
    FILE* file = fopen(scene, "w");
    assert_non_null(file);
    fputs(SCENE, file);
    fclose(file);
    talus_run_def def = talus_run_default();
    def.scene = scene;
    def.directory = results;
    def.log = listen;
    def.log_user = h;
    *h = (heard){0};
    honesty = honest;
    check_ok(talus_run_start(&def, sum, &report, &error), error);
    look_at_errors(results, h);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static void false_claims_are_found_and_told(void** state)
{
    (void)state;
    talus_summary honest, boasting;
    heard quiet, loud;
    carry_out(1.0, &honest, &quiet);
    carry_out(1e-5, &boasting, &loud);
    print_message("%lld and %lld audits, %lld and %lld held; %lld and %lld sweeps\n%s\n",
                  (long long)honest.audits, (long long)boasting.audits,
                  (long long)honest.audits_held, (long long)boasting.audits_held,
                  (long long)honest.sweeps_total, (long long)boasting.sweeps_total, loud.first);
    // Claims that are true: nobody complains.
    assert_in_range(honest.audits - honest.audits_unanswered, 1, INT64_MAX);
    assert_int_equal(honest.audits_held, honest.audits - honest.audits_unanswered);
    assert_int_equal(quiet.failures, 0);
    assert_null(strstr(honest.verdict, "audit failed"));
    // Claims that are false: each failure is told when it is found, with what follows from it, and
    // the verdict takes the certificate back.
    const int64_t failed = boasting.audits - boasting.audits_unanswered - boasting.audits_held;
    assert_in_range(failed, 1, INT64_MAX);
    assert_int_equal(loud.failures, failed);
    assert_non_null(strstr(loud.first, "a tolerance 2 times smaller"));
    assert_true(boasting.audit_most > 1.0);
    assert_non_null(strstr(boasting.verdict, "audit failed"));
    // It tightens: many steps of the one run are as good as they were asked to be, and not as good
    // as is asked of the other, whose steps hardly ever end there without being solved.
    print_message("%lld of %lld and %lld of %lld steps above half of the tolerance\n",
                  (long long)quiet.looser, (long long)quiet.later, (long long)loud.looser,
                  (long long)loud.later);
    assert_in_range(quiet.looser, quiet.later / 5, quiet.later);
    assert_in_range(loud.later, 100, INT64_MAX);
    assert_true(loud.looser <= loud.later / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(false_claims_are_found_and_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
