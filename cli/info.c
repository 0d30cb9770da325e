/* gibbsite info: what to expect of a matrix before sampling from it. */
#include "cli.h"
#include "json.h"
#include "load.h"
#include "options.h"
#include "rate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct facts {
    model_files files;
    int64_t dim, fixed;           /* sites, and those that --fix holds */
    int64_t bounded;              /* free sites with bounds */
    int64_t rows;                 /* of --rows */
    bool rows_checked;            /* there is room between them */
    int64_t nonzeros, duplicates; /* nonzeros among the free sites */
    gbs_spectrum spectrum;
    double omega;
    double tau;  /* (2/w - 1) tau_max; NAN if beyond double's range, as in the spectrum */
    double rate; /* NAN if not computed */
    bool rate_uncertain;
    double gibbs_cost, exact_cost;
} facts;

/* Multiply-adds that one normal costs beside the matrix, and one division of the exact solve;
 * rounded from what the kernels do per site. */
enum { NORMAL_COST = 20, DIVISION_COST = 4 };

static int64_t free_sites(const facts *f)
{
    return f->dim - f->fixed;
}

/* Work per effective draw of the slowest linear function, over the free sites.  A sweep is one pass
 * over the dense matrix, an exact draw one triangular solve; the factorisation is made with the
 * model anyway. */
static void weigh(facts *f)
{
    const double n = (double)free_sites(f);
    f->gibbs_cost = (f->tau < 1 ? 1 : f->tau) * (n * (n - 1) + (double)NORMAL_COST * n);
    f->exact_cost = n * (n - 1) / 2 + (double)(NORMAL_COST + DIVISION_COST) * n;
}

/* NULL where tau is not known. */
static const char *advice(const facts *f)
{
    if (isnan(f->gibbs_cost) || f->rows || f->bounded)
        return NULL;
    return f->gibbs_cost < f->exact_cost ? "gibbs" : "exact";
}

/* Eigenvalues near the ends of double's range come back as 0 or infinity: those say nothing. */
static void keep_in_range(gbs_spectrum *s)
{
    double *const figures[] = {&s->eigenvalue_min, &s->eigenvalue_max, &s->condition, &s->tau_max,
                               &s->f32_covariance_error};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        if (!in_range(*figures[k]))
            *figures[k] = NAN;
}

/* Of the law that is left: nothing couples a fixed site, whose diagonal entry stays in the matrix.
 */
static void count_sites(facts *f, const gbs_model *model)
{
    const double *q = gbs_model_precision(model), *fixed = gbs_model_fixed(model);
    for (int64_t k = 0; k < f->dim * f->dim; k++)
        f->nonzeros += q[k] != 0;
    for (int64_t i = 0; fixed && i < f->dim; i++)
        f->fixed += !isnan(fixed[i]);
    f->nonzeros -= f->fixed;
}

/* Of no free site there is nothing to say. */
static void leave_blank(facts *f)
{
    gbs_spectrum *s = &f->spectrum;
    s->eigenvalue_min = s->eigenvalue_max = s->condition = s->tau_max = s->f32_covariance_error =
        NAN;
    f->tau = f->rate = f->gibbs_cost = f->exact_cost = NAN;
}

static exit_code count_bounded(gbs_context *ctx, facts *f, const gbs_model *model)
{
    gbs_boxes boxes;
    const gbs_status status = gbs_model_boxes(ctx, model, GBS_F64, &boxes);
    if (status != GBS_OK)
        return complain_status(ctx, status);
    f->bounded = boxes.bounded;
    return EXIT_FINE;
}

/* Is there room between the constraints?  Without a solver that stays open. */
static exit_code check_rows(gbs_context *ctx, facts *f, const gbs_model *model)
{
    const gbs_constraints *rows = gbs_model_constraints(model);
    if (!rows)
        return EXIT_FINE;
    f->rows = rows->rows;
    double *x = take(f->dim, sizeof *x, "constraints");
    if (!x)
        return EXIT_FILE;
    const gbs_status status = gbs_model_interior(ctx, model, x);
    free(x);
    f->rows_checked = status == GBS_OK;
    if (status == GBS_OK || status == GBS_ERROR_UNAVAILABLE)
        return EXIT_FINE;
    return complain(status == GBS_ERROR_MEMORY ? EXIT_FILE : EXIT_BAD_INPUT, "%s: %s",
                    f->files.rows, gbs_context_message(ctx));
}

/* By formula where there is one; by LAPACK up to RATE_LARGEST, or always. */
static exit_code find_rate(gbs_context *ctx, facts *f, const gbs_model *model, bool always)
{
    const gbs_status status = gbs_model_gibbs_rate(ctx, model, &f->spectrum, f->omega, &f->rate);
    if (status != GBS_OK)
        return complain_status(ctx, status);
    if (!isnan(f->rate) || (f->dim > RATE_LARGEST && !always))
        return EXIT_FINE;
    double error;
    const exit_code code =
        general_gibbs_rate(gbs_model_precision(model), f->dim, f->omega, &f->rate, &error);
    f->rate_uncertain = code == EXIT_FINE && !rate_is_certain(f->rate, error);
    return code;
}

static exit_code gather(gbs_context *ctx, facts *f, bool rate_always)
{
    gbs_model *model = NULL;
    model_facts said;
    exit_code code = load_model(ctx, &f->files, &model, &said);
    f->duplicates = said.duplicates;
    model_facts_free(&said);
    if (code != EXIT_FINE)
        return code;
    f->dim = gbs_model_dim(model);
    count_sites(f, model);
    const gbs_status status = gbs_model_spectrum(ctx, model, &f->spectrum);
    if (status != GBS_OK)
        code = complain_status(ctx, status);
    if (code == EXIT_FINE)
        code = count_bounded(ctx, f, model);
    if (code == EXIT_FINE)
        code = check_rows(ctx, f, model);
    keep_in_range(&f->spectrum);
    f->tau = (2 / f->omega - 1) * f->spectrum.tau_max;
    f->rate = NAN;
    if (code == EXIT_FINE)
        code = find_rate(ctx, f, model, rate_always);
    weigh(f);
    if (!free_sites(f))
        leave_blank(f);
    gbs_model_release(model);
    return code;
}

/* Enough digits that those of 1 - rate show. */
static int rate_digits(double rate)
{
    const double gap = fmax(1 - rate, 1e-15);
    return (int)fmax(4, 2 + ceil(-log10(gap)));
}

static void print_rate(const facts *f)
{
    if (isnan(f->rate)) {
        printf("Gibbs rate    not computed (n > %d; use --rate)\n", RATE_LARGEST);
        return;
    }
    if (f->rate_uncertain) {
        printf("Gibbs rate    uncertain: LAPACK finds %.2g, of a matrix far from normal, which "
               "rounding\n"
               "              may have moved by more than 1 %% of 1 - rate\n",
               f->rate);
        return;
    }
    printf("Gibbs rate    %.*f (spectral radius of a sweep's effect on the mean)\n",
           rate_digits(f->rate), f->rate);
    if (1 - f->rate < RATE_NEAREST)
        puts("to forget     more than 1e12 sweeps, beyond what rounding lets us tell");
    else
        printf("to forget     %.3g sweeps, the start by a factor e: 1 / (1 - rate)\n",
               1 / (1 - f->rate));
}

static void print_spectrum(const gbs_spectrum *s)
{
    if (!isnan(s->eigenvalue_min) && !isnan(s->eigenvalue_max))
        printf("eigenvalues   %.6g ... %.6g of the precision\n", s->eigenvalue_min,
               s->eigenvalue_max);
    else if (!isnan(s->eigenvalue_max))
        printf("eigenvalues   up to %.6g of the precision, the least " OUT_OF_RANGE "\n",
               s->eigenvalue_max);
    else
        puts("eigenvalues   " OUT_OF_RANGE);
    if (isnan(s->condition))
        puts("condition     " OUT_OF_RANGE);
    else
        printf("condition     %.3g\n", s->condition);
}

static void print_verdicts(const facts *f)
{
    static const char *const verdicts[] = {"fine", "sample --dtype f32 will warn",
                                           "sample --dtype f32 needs --force"};
    const gbs_spectrum *s = &f->spectrum;
    if (isnan(s->f32_covariance_error))
        printf("float         " OUT_OF_RANGE ": %s\n", verdicts[f32_judge(s)]);
    else
        printf("float         moves the covariance by about %.2g: %s\n", s->f32_covariance_error,
               verdicts[f32_judge(s)]);
    if (f->rows || f->bounded)
        printf("advice        none: these figures are those of the law without its %s\n",
               f->rows ? "constraints" : "bounds");
    else if (!advice(f))
        puts("advice        " OUT_OF_RANGE);
    else
        printf("advice        %s: multiply-adds per effective draw %.3g by gibbs, %.3g by exact\n",
               advice(f), f->gibbs_cost, f->exact_cost);
}

static void print_facts(const facts *f)
{
    const double n = (double)free_sites(f);
    printf("matrix        %s (%s)\n", f->files.matrix,
           f->files.covariance ? "covariance" : "precision");
    printf("size          %lld x %lld, ", (long long)f->dim, (long long)f->dim);
    if (!free_sites(f)) {
        puts("all sites fixed: nothing is left to sample");
        return;
    }
    if (f->fixed)
        printf("%lld %s fixed, ", (long long)f->fixed, gbs_plural(f->fixed, "site", "sites"));
    printf("precision%s with %lld %s (%.3g %%)\n", f->fixed ? " of the others" : "",
           (long long)f->nonzeros, gbs_plural(f->nonzeros, "nonzero", "nonzeros"),
           100 * (double)f->nonzeros / (n * n));
    if (f->bounded)
        printf("bounds        on %lld %s; what follows is of the law without them\n",
               (long long)f->bounded, gbs_plural(f->bounded, "site", "sites"));
    if (f->rows)
        printf("constraints   %lld %s, %s\n", (long long)f->rows,
               gbs_plural(f->rows, "row", "rows"),
               f->rows_checked ? "with room inside"
                               : "not checked: Clp is not installed, or finds no start");
    print_spectrum(&f->spectrum);
    if (isnan(f->tau))
        fputs("tau_max       " OUT_OF_RANGE, stdout);
    else
        printf("tau_max       %.3g sweeps per effective draw of the slowest direction", f->tau);
    if (f->omega != 1)
        printf(" (w = %g)", f->omega);
    putchar('\n');
    print_rate(f);
    print_verdicts(f);
}

static json_t *facts_json(const facts *f)
{
    const gbs_spectrum *s = &f->spectrum;
    const double rate = f->rate_uncertain ? NAN : f->rate;
    const bool known = !isnan(rate) && 1 - rate >= RATE_NEAREST;
    json_t *asymmetry =
        s->asymmetry_row < 0
            ? json_null()
            : json_pack("{s:o, s:I, s:I}", "value", json_number(s->asymmetry), "row",
                        (json_int_t)s->asymmetry_row, "column", (json_int_t)s->asymmetry_column);
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:b, s:o, s:{s:o, s:s}, s:{s:o, s:o}, s:s?}",
        "gibbsite", gbs_version(), "verb", "info", "matrix", json_text(f->files.matrix), "kind",
        f->files.covariance ? "covariance" : "precision", "size", (json_int_t)f->dim, "fixed",
        (json_int_t)f->fixed, "bounded", (json_int_t)f->bounded, "rows", (json_int_t)f->rows,
        "rows_checked", f->rows ? json_boolean(f->rows_checked) : json_null(), "nonzeros",
        (json_int_t)f->nonzeros, "duplicates", (json_int_t)f->duplicates, "asymmetry", asymmetry,
        "eigenvalue_min", json_number(s->eigenvalue_min), "eigenvalue_max",
        json_number(s->eigenvalue_max), "condition", json_number(s->condition), "omega",
        json_number(f->omega), "tau_max", json_number(f->tau), "gibbs_rate", json_number(rate),
        "gibbs_rate_uncertain", f->rate_uncertain, "sweeps_to_forget",
        known ? json_number(1 / (1 - rate)) : json_null(), "f32", "covariance_error",
        json_number(s->f32_covariance_error), "verdict",
        f32_words[free_sites(f) ? f32_judge(s) : F32_FINE], "cost_per_effective_draw", "gibbs",
        json_number(f->gibbs_cost), "exact", json_number(f->exact_cost), "advice", advice(f));
}

exit_code verb_info(int argc, char **argv)
{
    facts f = {.omega = 1};
    bool json = false, rate_always = false;
    cli_option options[] = {
        {"-Q", "FILE", "the matrix: .npy, FILE.npz:MEMBER, Matrix Market or CSV", &f.files.matrix,
         OPTION_TEXT, .required = true},
        {"--covariance", NULL, "FILE holds the covariance, not the precision", &f.files.covariance,
         OPTION_FLAG, .required = false},
        {"--fix", "FILE", "hold sites at these values: D numbers, nan for a free site",
         &f.files.fix, OPTION_TEXT, .required = false},
        {"--lower", "FILE|VALUE", "lower bounds of sites: D numbers, -inf for none, or one for all",
         &f.files.lower, OPTION_TEXT, .required = false},
        {"--upper", "FILE|VALUE", "their upper bounds", &f.files.upper, OPTION_TEXT,
         .required = false},
        {"--rows", "FILE", "constraints: the rows A of lower <= A x <= upper, [R, D]",
         &f.files.rows, OPTION_TEXT, .required = false},
        {"--row-lower", "FILE|VALUE", "their lower bounds: R numbers, or one for all rows",
         &f.files.row_lower, OPTION_TEXT, .required = false},
        {"--row-upper", "FILE|VALUE", "their upper bounds", &f.files.row_upper, OPTION_TEXT,
         .required = false},
        {"--omega", "W", "over-relaxation weight, 0 < W < 2 (default 1)", &f.omega, OPTION_REAL,
         .low = 0, .high = 2, .open = true},
        {"--rate", NULL,
         "the Gibbs rate by LAPACK however large the matrix: about\n"
         "10 n^3 operations, left out above n = 2048; where there\n"
         "is a formula (chains, lattices) it is always given",
         &rate_always, OPTION_FLAG, .required = false},
        {"--json", NULL, "one JSON object on standard output", &json, OPTION_FLAG,
         .required = false},
    };
    const cli_command command = {
        .name = "info",
        .usage = "-Q FILE [options]",
        .purpose = "Says what to expect of a matrix: size, condition number, how slowly Gibbs\n"
                   "sampling mixes, whether float is enough, and which method is cheaper.",
        .example = "  gibbsite make lattice --rows 10 --cols 10 --kappa 0.1 -o q.mtx\n"
                   "  gibbsite info -Q q.mtx",
        .options = options,
        .count = sizeof options / sizeof *options,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    code = check_bound_options(&command, &f.files);
    if (code != EXIT_FINE)
        return code;
    gbs_context *ctx = NULL;
    if (gbs_context_create(NULL, &ctx) != GBS_OK)
        return complain(EXIT_FILE, "no memory for a context");
    code = gather(ctx, &f, rate_always);
    if (code == EXIT_FINE && json)
        code = json_print(facts_json(&f), code);
    else if (code == EXIT_FINE) {
        print_facts(&f);
        code = finish_stdout(code);
    }
    gbs_context_destroy(ctx);
    return code;
}
