/* gibbsite make: precision matrices of standard Gaussian Markov random fields (Rue and Held,
 * Gaussian Markov Random Fields, 2005, chapters 1 and 3), written as the lower triangle of a
 * Matrix Market file.  One kind of model is one row of the table at the end. */
#include "cli.h"
#include "help.h"
#include "interrupt.h"
#include "make_random.h"
#include "options.h"

#include "io/graph.h"
#include "io/matrix_market.h"
#include "io/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A lower triangle on its way to its file, entry by entry, rows ascending: no model of a band or
 * a graph needs memory for its matrix. */
typedef struct triangle {
    gbs_mtx_writer *writer;
    const char *path;
    bool print;     /* to standard output */
    exit_code code; /* of the first failure, which has then been said */
} triangle;

static exit_code complain_io(gbs_io_status status, const gbs_io_error *error)
{
    return complain((exit_code)gbs_io_exit_code(status), "%s", error->message);
}

/* `comment` tells how the file is made.  Whatever comes of it, triangle_finish ends it. */
static triangle triangle_start(const char *path, int64_t dim, int64_t count, const char *comment)
{
    triangle t = {.path = path, .print = strcmp(path, "-") == 0};
    gbs_io_error error;
    if (!t.print)
        interrupt_hold(); /* a temporary file exists from here until it is renamed */
    const gbs_io_status status =
        gbs_mtx_create(t.print ? NULL : path, dim, count, comment, &t.writer, &error);
    if (status != GBS_IO_OK)
        t.code = complain_io(status, &error);
    return t;
}

/* Does nothing any more once something has failed. */
static void triangle_add(triangle *t, int64_t row, int64_t column, double value)
{
    gbs_io_error error;
    if (t->code != EXIT_FINE)
        return;
    if (interrupted()) {
        t->code = complain(EXIT_INTERRUPTED, "interrupted, nothing was written");
        return;
    }
    const gbs_io_status status = gbs_mtx_add(t->writer, row, column, value, &error);
    if (status != GBS_IO_OK)
        t->code = complain_io(status, &error);
}

static exit_code triangle_finish(triangle *t)
{
    gbs_io_error error;
    if (t->code == EXIT_FINE) {
        const gbs_io_status status = gbs_mtx_finish(t->writer, &error);
        if (status != GBS_IO_OK)
            t->code = complain_io(status, &error);
    } else {
        gbs_mtx_abandon(t->writer);
    }
    interrupt_release();
    if (t->code != EXIT_FINE)
        return t->code;
    gbs_results_format format;
    if (!t->print && gbs_results_format_of(t->path, &format))
        say("warning: %s: is a Matrix Market file, whatever its name says", t->path);
    if (interrupted())
        return complain(EXIT_INTERRUPTED, "interrupted once %s was written", t->path);
    return EXIT_FINE;
}

static void say_singular(double kappa)
{
    if (kappa == 0)
        say("with --kappa 0 the matrix is singular (constants have no precision): 'sample' refuses "
            "it "
            "unless a site of each connected part is fixed (--fix)");
}

/* ------------------------------------------------------------------ ar1 */

static exit_code make_ar1(int argc, char **argv)
{
    int64_t n = 0;
    double phi = 0;
    const char *path = NULL;
    cli_option options[] = {
        {"-n", "N", "sites", &n, OPTION_COUNT, .least = 1, .most = INT32_MAX, .required = true},
        {"--phi", "P", "correlation of neighbours, -1 < P < 1", &phi, OPTION_REAL, .low = -1,
         .high = 1, .open = true, .required = true},
        {"-o", "FILE", "where to write; - is standard output", &path, OPTION_TEXT,
         .required = true},
    };
    const cli_command command = {
        .name = "make ar1",
        .usage = "-n N --phi P -o FILE",
        .purpose = "Stationary autoregression x_t = P x_(t-1) + e_t with e_t ~ N(0, 1): diagonal\n"
                   "1, 1 + P^2, ..., 1 + P^2, 1 and -P beside it; all variances are 1 / (1 - P^2).",
        .example = "  gibbsite make ar1 -n 10 --phi 0.9 -o q.mtx",
        .options = options,
        .count = sizeof options / sizeof *options,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    char comment[128], number[32];
    snprintf(comment, sizeof comment, "gibbsite make ar1 -n %lld --phi %s", (long long)n,
             shortest(phi, number));
    triangle t = triangle_start(path, n, 2 * n - 1, comment);
    for (int64_t i = 0; t.code == EXIT_FINE && i < n; i++) {
        if (i > 0)
            triangle_add(&t, i, i - 1, -phi);
        const int ends = (i == 0) + (i == n - 1);
        triangle_add(&t, i, i, ends == 0 ? 1 + phi * phi : ends == 1 ? 1 : 1 - phi * phi);
    }
    return triangle_finish(&t);
}

/* ------------------------------------------------------------------ lattice, torus */

typedef struct grid {
    int64_t rows, columns;
    double kappa;
    bool wrap;
} grid;

/* Neighbours of site r * columns + c, ascending; returns how many. */
static int grid_neighbours(const grid *g, int64_t r, int64_t c, int64_t near[4])
{
    static const int step[4][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        int64_t row = r + step[k][0], column = c + step[k][1];
        if (g->wrap) {
            row = (row + g->rows) % g->rows;
            column = (column + g->columns) % g->columns;
        }
        if (row < 0 || row >= g->rows || column < 0 || column >= g->columns)
            continue;
        const int64_t site = row * g->columns + column;
        int at = count++;
        for (; at > 0 && near[at - 1] > site; at--)
            near[at] = near[at - 1];
        near[at] = site;
    }
    return count;
}

/* Sites and links; on a torus every site has two links of its own. */
static int64_t grid_entries(const grid *g)
{
    const int64_t sites = g->rows * g->columns;
    return 3 * sites - (g->wrap ? 0 : g->rows + g->columns);
}

static void fill_grid(const grid *g, triangle *t)
{
    for (int64_t r = 0; t->code == EXIT_FINE && r < g->rows; r++)
        for (int64_t c = 0; c < g->columns; c++) {
            const int64_t site = r * g->columns + c;
            int64_t near[4];
            const int count = grid_neighbours(g, r, c, near);
            for (int k = 0; k < count && near[k] < site; k++)
                triangle_add(t, site, near[k], -1);
            triangle_add(t, site, site, count + g->kappa);
        }
}

static exit_code make_grid(int argc, char **argv, bool wrap)
{
    grid g = {.wrap = wrap};
    const char *path = NULL;
    /* A ring of two would join its sites twice. */
    const int64_t least = wrap ? 3 : 1;
    cli_option options[] = {
        {"--rows", "R", "rows", &g.rows, OPTION_COUNT, .least = least, .most = 46340,
         .required = true},
        {"--cols", "C", "columns", &g.columns, OPTION_COUNT, .least = least, .most = 46340,
         .required = true},
        {"--kappa", "K", "added to the diagonal, at least 0", &g.kappa, OPTION_REAL, .low = 0,
         .high = INFINITY, .required = true},
        {"-o", "FILE", "where to write; - is standard output", &path, OPTION_TEXT,
         .required = true},
    };
    const cli_command command = {
        .name = wrap ? "make torus" : "make lattice",
        .usage = "--rows R --cols C --kappa K -o FILE",
        .purpose = wrap ? "Grid whose opposite edges are joined: 4 + K on the diagonal, -1 to the\n"
                          "four neighbours; R and C at least 3.  Site r C + c is row r, column c."
                        : "Grid: number of neighbours + K on the diagonal, -1 to the neighbours\n"
                          "above, below, left and right.  Site r C + c is row r, column c.",
        .example = wrap ? "  gibbsite make torus --rows 8 --cols 8 --kappa 1 -o q.mtx"
                        : "  gibbsite make lattice --rows 10 --cols 10 --kappa 0.1 -o q.mtx",
        .options = options,
        .count = sizeof options / sizeof *options,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    char comment[160], number[32];
    snprintf(comment, sizeof comment, "gibbsite %s --rows %lld --cols %lld --kappa %s",
             command.name, (long long)g.rows, (long long)g.columns, shortest(g.kappa, number));
    triangle t = triangle_start(path, g.rows * g.columns, grid_entries(&g), comment);
    fill_grid(&g, &t);
    code = triangle_finish(&t);
    if (code == EXIT_FINE)
        say_singular(g.kappa);
    return code;
}

static exit_code make_lattice(int argc, char **argv)
{
    return make_grid(argc, argv, false);
}

static exit_code make_torus(int argc, char **argv)
{
    return make_grid(argc, argv, true);
}

/* ------------------------------------------------------------------ car, icar */

/* D - weight W + kappa I, W the adjacency and D its row sums. */
static void fill_graph(const gbs_graph *graph, double weight, double kappa, triangle *t)
{
    for (int64_t i = 0; t->code == EXIT_FINE && i < graph->nodes; i++) {
        for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            if (graph->neighbour[k] < i)
                triangle_add(t, i, graph->neighbour[k], -weight);
        triangle_add(t, i, i, (double)(graph->start[i + 1] - graph->start[i]) + kappa);
    }
}

/* A site alone would get precision kappa, and with 0 there is no such model. */
static exit_code check_isolated(const gbs_graph *graph, const char *path, double kappa)
{
    for (int64_t i = 0; kappa == 0 && i < graph->nodes; i++)
        if (graph->start[i] == graph->start[i + 1])
            return complain(EXIT_BAD_INPUT,
                            "%s: site %lld (counted from 0) has no neighbours, so its precision "
                            "would be 0; 'make icar' with --kappa above 0 allows it",
                            path, (long long)i);
    return EXIT_FINE;
}

static exit_code write_graph_model(const char *graph_path, int64_t nodes, double weight,
                                   double kappa, const char *path, const char *how)
{
    gbs_graph graph;
    gbs_io_error error;
    const gbs_io_status status = gbs_graph_read(graph_path, nodes, &graph, &error);
    if (status != GBS_IO_OK)
        return complain_io(status, &error);
    char comment[256];
    snprintf(comment, sizeof comment, "%s\n%s graph of %lld %s, %lld %s", how,
             gbs_graph_format_name(graph.format), (long long)graph.nodes,
             gbs_plural(graph.nodes, "site", "sites"), (long long)graph.links,
             gbs_plural(graph.links, "link", "links"));
    exit_code code = check_isolated(&graph, graph_path, kappa);
    if (code == EXIT_FINE) {
        triangle t = triangle_start(path, graph.nodes, graph.nodes + graph.links, comment);
        fill_graph(&graph, weight, kappa, &t);
        code = triangle_finish(&t);
    }
    gbs_graph_free(&graph);
    return code;
}

#define EXAMPLE_EDGES "  printf '0 1\\n1 2\\n2 0\\n2 3\\n' > edges.txt\n"

static exit_code make_graph(int argc, char **argv, bool intrinsic)
{
    const char *graph = NULL, *path = NULL;
    double parameter = 0;
    int64_t nodes = 0;
    cli_option options[] = {
        {"--graph", "FILE", "INLA .graph or .adjacency, GAL or edge list,\ntold apart by content",
         &graph, OPTION_TEXT, .required = true},
        {"--nodes", "N", "number of sites, for an edge list whose last sites\nhave no neighbours",
         &nodes, OPTION_COUNT, .least = 1, .most = INT32_MAX},
        {"--rho", "R", "spatial dependence, -1 < R < 1", &parameter, OPTION_REAL, .low = -1,
         .high = 1, .open = true, .required = true},
        {"-o", "FILE", "where to write; - is standard output", &path, OPTION_TEXT,
         .required = true},
    };
    if (intrinsic)
        options[2] = (cli_option){
            "--kappa",       "K",         "added to the diagonal, at least 0 (default 0)",
            &parameter,      OPTION_REAL, .low = 0,
            .high = INFINITY};
    const cli_command command = {
        .name = intrinsic ? "make icar" : "make car",
        .usage = intrinsic ? "--graph FILE [--nodes N] [--kappa K] -o FILE"
                           : "--graph FILE [--nodes N] --rho R -o FILE",
        .purpose =
            intrinsic
                ? "Intrinsic conditional autoregression D - W + K I: W the graph's adjacency, D\n"
                  "its row sums.  With K = 0 it is singular: 'sample' then needs a site of each\n"
                  "connected part fixed (--fix)."
                : "Proper conditional autoregression D - R W: W the graph's adjacency, D its row\n"
                  "sums; x_i given the others has mean R times its neighbours' average.",
        .example = intrinsic ? EXAMPLE_EDGES
                       "  gibbsite make icar --graph edges.txt --nodes 4 --kappa 0.5 -o q.mtx"
                             : EXAMPLE_EDGES
                       "  gibbsite make car --graph edges.txt --nodes 4 --rho 0.9 -o q.mtx",
        .options = options,
        .count = sizeof options / sizeof *options,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    if (strcmp(path, "-") != 0 &&
        (code = check_output(&command, "-o", path, (const char *const[]){graph}, 1)) != EXIT_FINE)
        return code;
    char how[64], number[32];
    snprintf(how, sizeof how, "gibbsite %s %s %s", command.name, options[2].name,
             shortest(parameter, number));
    code = intrinsic ? write_graph_model(graph, nodes, 1, parameter, path, how)
                     : write_graph_model(graph, nodes, parameter, 0, path, how);
    if (code == EXIT_FINE && intrinsic)
        say_singular(parameter);
    return code;
}

static exit_code make_car(int argc, char **argv)
{
    return make_graph(argc, argv, false);
}

static exit_code make_icar(int argc, char **argv)
{
    return make_graph(argc, argv, true);
}

/* ------------------------------------------------------------------ random */

static exit_code write_random(int64_t n, double cond, uint64_t seed, const char *path,
                              const char *comment)
{
    double *q = take(n * n, sizeof *q, "-n");
    exit_code code = q ? random_precision(n, cond, seed, q) : EXIT_FILE;
    if (code == EXIT_FINE) {
        triangle t = triangle_start(path, n, n * (n + 1) / 2, comment);
        for (int64_t i = 0; t.code == EXIT_FINE && i < n; i++)
            for (int64_t j = 0; j <= i; j++)
                triangle_add(&t, i, j, q[i * n + j]);
        code = triangle_finish(&t);
    }
    free(q);
    return code;
}

static exit_code make_random(int argc, char **argv)
{
    int64_t n = 0;
    double cond = 1;
    uint64_t seed = 0;
    const char *path = NULL;
    cli_option options[] = {
        {"-n", "N", "sites", &n, OPTION_COUNT, .least = 1, .most = 46340, .required = true},
        {"--cond", "C", "condition number, 1 to 1e12", &cond, OPTION_REAL, .low = 1, .high = 1e12,
         .required = true},
        {"--seed", "S", "0 to 2^64-1, or -1", &seed, OPTION_SEED, .required = true},
        {"-o", "FILE", "where to write; - is standard output", &path, OPTION_TEXT,
         .required = true},
    };
    const cli_command command = {
        .name = "make random",
        .usage = "-n N --cond C --seed S -o FILE",
        .purpose = "Dense random matrix with eigenvalues 1 ... C in equal ratios and eigenvectors\n"
                   "uniform on the orthogonal group; the same file from a seed everywhere.",
        .example = "  gibbsite make random -n 20 --cond 100 --seed 1 -o q.mtx",
        .options = options,
        .count = sizeof options / sizeof *options,
    };
    exit_code code;
    if (!options_parse(&command, argc, argv, &code))
        return code;
    if (n == 1 && cond != 1)
        return usage_error(&command, "--cond: a 1 x 1 matrix has condition number 1, not %g", cond);
    char comment[128], number[32];
    snprintf(comment, sizeof comment, "gibbsite make random -n %lld --cond %s --seed %llu",
             (long long)n, shortest(cond, number), (unsigned long long)seed);
    return write_random(n, cond, seed, path, comment);
}

/* ------------------------------------------------------------------ the verb */

static const struct kind {
    const char *name;
    exit_code (*run)(int argc, char **argv);
    const char *usage;
} kinds[] = {
    {"ar1", make_ar1, "-n N --phi P -o FILE"},
    {"lattice", make_lattice, "--rows R --cols C --kappa K -o FILE"},
    {"torus", make_torus, "--rows R --cols C --kappa K -o FILE"},
    {"car", make_car, "--graph FILE [--nodes N] --rho R -o FILE"},
    {"icar", make_icar, "--graph FILE [--nodes N] [--kappa K] -o FILE"},
    {"random", make_random, "-n N --cond C --seed S -o FILE"},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const char writes[] =
    "Writes the precision matrix of a standard model as Matrix Market coordinate real\n"
    "symmetric, lower triangle, 17 digits.  Entries go to the file as they are made;\n"
    "'random' alone holds its matrix, 8 bytes for each of N^2 numbers.";

static void print_text(FILE *to)
{
    for (int k = 0; k < KINDS; k++)
        fprintf(to, "%s gibbsite make %-8s %s\n", k ? "      " : "Usage:", kinds[k].name,
                kinds[k].usage);
    fprintf(to,
            "\n%s  'gibbsite make KIND --help' tells more.\n"
            "\nExample:\n"
            "  gibbsite make ar1 -n 10 --phi 0.9 -o q.mtx\n",
            writes);
}

/* The page of all kinds, each of which prints its own section; likewise in the completion. */
static void print_kinds(help_form form, char *word)
{
    if (form == HELP_MAN) {
        help_man_start("make", verb_purpose("make"));
        help_man_heading("SYNOPSIS");
        for (int k = 0; k < KINDS; k++) {
            printf("%s.B gibbsite make %s\n", k ? ".br\n" : "", kinds[k].name);
            help_man_text(kinds[k].usage);
        }
        help_man_heading("DESCRIPTION");
        help_man_text(writes);
    } else {
        help_bash_start("make", "");
        fputs("        words='", stdout);
        for (int k = 0; k < KINDS; k++)
            printf("%s ", kinds[k].name);
        puts("--help'");
        help_bash_end();
    }
    for (int k = 0; k < KINDS; k++)
        kinds[k].run(1, (char *[]){word, NULL});
    if (form == HELP_MAN)
        help_man_end();
}

exit_code verb_make(int argc, char **argv)
{
    if (argc < 1) {
        print_text(stderr);
        return EXIT_USAGE;
    }
    const help_form form = help_asked(argv[0]);
    if (form == HELP_TEXT)
        print_text(stdout);
    else if (form != HELP_NONE)
        print_kinds(form, argv[0]);
    if (form != HELP_NONE)
        return finish_stdout(EXIT_FINE);
    for (int k = 0; k < KINDS; k++)
        if (!strcmp(argv[0], kinds[k].name))
            return kinds[k].run(argc - 1, argv + 1);
    return complain(EXIT_USAGE, "make: unknown kind '%s'; 'gibbsite make --help' lists them",
                    argv[0]);
}
