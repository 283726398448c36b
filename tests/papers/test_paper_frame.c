/// The frame of the published experiments: verdicts that can fail, files, the page, and the fits.
#include "support.h"

#include "fit.h"
#include "random.h"
#include "results.h"

#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/talus-paper-XXXXXX";

static int make_directory(void** state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void** state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

static void read_back(const char* name, char* text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/// An experiment with one row of every kind, and of every way to be wrong.
static talus_status try_everything(paper* p)
{
    paper_within(p, "inside", 1.004, 1, 0.005, "by hand");
    paper_within(p, "at the bound", 1.5, 1, 0.5, "by hand");
    paper_within(p, "outside", 1.006, 1, 0.005, "by hand");
    paper_within(p, "no number", NAN, 1, 0.5, "by hand");
    paper_between(p, "between", 2, 1, 3, "by hand");
    paper_between(p, "above", 4, -INFINITY, 3, "by hand");
    paper_differs(p, "explained", 5, 4, "a \"reason\", <well> known & told");
    paper_note(p, "note %d", 7);
    double* x = paper_alloc(p, 3, sizeof *x);
    if (!x) return p->error.status;
    for (int i = 0; i < 3; i++) x[i] = i;
    TRY(paper_csv(p, NULL, 3, 2, (paper_column[]){{"x", x}, {"again", x}}));
    talus_figure_def def = talus_figure_default();
    talus_figure* figure;
    TRY(talus_figure_create(&def, &figure, &p->error));
    talus_status status = paper_figure(p, "b", figure, "nothing to be seen");
    talus_figure_destroy(figure);
    return status;
}

static talus_status give_up(paper* p)
{
    paper_within(p, "before", 1, 1, 0.1, "by hand");
    return paper_fail(p, "reason %d", 3);
}

static talus_status do_nothing(paper* p)
{
    paper_note(p, "nothing");
    return TALUS_OK;
}

static void test_verdicts(void** state)
{
    (void)state;
    paper_experiment experiment = {"try", "a title", "a source", "about <it>", try_everything};
    paper_options options = {.directory = directory, .threads = 1, .seed = 1};
    paper_results r;
    check_ok(paper_carry_out(&experiment, &options, &r), r.error);
    static const paper_verdict expected[] = {PAPER_AGREES,    PAPER_AGREES, PAPER_DISAGREES,
                                             PAPER_DISAGREES, PAPER_AGREES, PAPER_DISAGREES,
                                             PAPER_DIFFERS};
    assert_int_equal(r.row_count, 7);
    for (int i = 0; i < r.row_count; i++) assert_int_equal(r.rows[i].verdict, expected[i]);
    assert_int_equal(paper_disagreements(&r), 3);
    assert_false(paper_succeeded(&r));
    r.rows[2].verdict = r.rows[3].verdict = r.rows[5].verdict = PAPER_AGREES;
    assert_true(paper_succeeded(&r));
    char words[64];
    paper_expected_words(&r.rows[5], words, sizeof words);
    assert_string_equal(words, "at most 3");
    paper_deviation_words(&r.rows[0], words, sizeof words);
    assert_string_equal(words, "+0.4 %");
    paper_deviation_words(&r.rows[3], words, sizeof words);
    assert_string_equal(words, "no number");
    paper_results_free(&r);
}

static void test_files(void** state)
{
    (void)state;
    paper_experiment experiment = {"try", "a title", "a source", "about <it>", try_everything};
    paper_options options = {.directory = directory, .threads = 1, .seed = 1};
    paper_results r;
    check_ok(paper_carry_out(&experiment, &options, &r), r.error);
    char text[100000];
    read_back("try.csv", text, sizeof text);
    assert_string_equal(text, "x,again\n0,0\n1,1\n2,2\n");
    read_back("try-table.csv", text, sizeof text);
    assert_non_null(strstr(text, "explained,5,4,4,4,differs,\"a \"\"reason\"\", <well> known"));
    talus_error error;
    check_ok(paper_write_page(directory, &r, 1, &error), error);
    read_back("index.html", text, sizeof text);
    assert_non_null(strstr(text, "a &quot;reason&quot;, &lt;well&gt; known &amp; told"));
    assert_non_null(strstr(text, "data:image/png;base64,iVBORw0KGgo")); // the magic of a PNG
    assert_non_null(strstr(text, "href=\"try-b.svg\""));
    paper_results_free(&r);
}

static void test_failures_are_told(void** state)
{
    (void)state;
    paper_options options = {.directory = directory, .threads = 1, .seed = 1};
    paper_experiment experiment = {"stop", "", "", "", give_up};
    paper_results r;
    assert_int_equal(paper_carry_out(&experiment, &options, &r), TALUS_ERR_STATE);
    assert_string_equal(r.error.text, "reason 3");
    assert_false(paper_succeeded(&r));
    talus_error error;
    check_ok(paper_write_page(directory, &r, 1, &error), error);
    paper_results_free(&r);
    experiment.run = do_nothing; // no rows, no data: not a success either
    assert_int_equal(paper_carry_out(&experiment, &options, &r), TALUS_OK);
    assert_false(paper_succeeded(&r));
    paper_results_free(&r);
    options.directory = "/nonexistent";
    experiment.run = try_everything;
    assert_int_equal(paper_carry_out(&experiment, &options, &r), TALUS_ERR_IO);
    assert_non_null(strstr(r.error.text, "/nonexistent/stop"));
    paper_results_free(&r);
}

static void test_line(void** state)
{
    (void)state;
    double x[] = {0, 1, 2, 3}, y[] = {1, 3.1, 4.9, 7};
    fit_line_result fit = fit_line(4, x, y);
    check_close("slope", fit.slope, 1.98, 1e-12, "by hand: sum (x - 1.5) y / 5");
    check_close("intercept", fit.intercept, 1.03, 1e-12, "by hand: 4 - 1.5 * 1.98");
    // Residuals -0.03, 0.09, -0.09, 0.03: variance 0.018/2, of the slope 0.009/5.
    check_close("slope's error", fit.slope_error, sqrt(0.009 / 5), 1e-12, "by hand");
    double p[] = {1, 2, 4}, q[] = {3, 12, 48};
    check_close("exponent", fit_power(3, p, q).slope, 2, 1e-12, "3 x^2 without noise");
    fit_mean_result mean = fit_mean(4, x);
    check_close("mean", mean.mean, 1.5, 1e-15, "by hand");
    check_close("its error", mean.error, sqrt(5.0 / 3 / 4), 1e-15, "by hand");
}

/// A damped oscillation with noise: the numbers come back within their errors, and the stated
/// errors are those found by repeating.
static void test_wave(void** state)
{
    (void)state;
    enum { POINTS = 400, REPEATS = 200 };
    fit_wave real = {.offset = 3, .amplitude = 2, .tau = 80, .omega = 0.11, .phase = 0.7};
    static double t[POINTS], x[POINTS], omega[REPEATS], tau[REPEATS];
    double omega_error = 0, tau_error = 0;
    rng r = rng_make(5, 0, 0);
    for (int k = 0; k < REPEATS; k++) {
        for (int i = 0; i < POINTS; i++) {
            t[i] = 20 + i;
            x[i] = fit_wave_at(&real, t[i]) + 0.02 * uniform(&r, -1, 1);
        }
        fit_wave found = {.tau = 50, .omega = 0.1}; // guesses that are 40 % and 10 % off
        assert_true(fit_damped_wave(POINTS, t, x, &found));
        omega[k] = found.omega;
        tau[k] = found.tau;
        omega_error += found.omega_error / REPEATS;
        tau_error += found.tau_error / REPEATS;
        if (k > 0) continue;
        check_close("offset", found.offset, 3, 0.01, "noise 0.012 over 400 points, 9 sigma");
        check_close("phase", fmod(found.phase, 6.283185307179586), 0.7, 0.05, "likewise");
        check_close("scatter", found.scatter, 0.02 / sqrt(3), 0.002, "a uniform noise's");
    }
    fit_mean_result o = fit_mean(REPEATS, omega), s = fit_mean(REPEATS, tau);
    check_close("omega", o.mean, real.omega, 4 * o.error, "four standard errors of the mean");
    check_close("tau", s.mean, real.tau, 4 * s.error, "four standard errors of the mean");
    check_close("error of omega", omega_error / o.deviation, 1, 0.2,
                "a deviation from 200 repeats is known to 5 %, four times that");
    check_close("error of tau", tau_error / s.deviation, 1, 0.2, "likewise");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_failures_are_told),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_wave),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
