/* Readers of neighbour graphs: the text is cut into words that know their lines, the shape of
 * the first lines tells the format, and each format's reader walks the words once.  Formats:
 * R-INLA's inla.read.graph, GeoDa's GAL as spdep's read.gal takes it, plain edge lists. */
#define _POSIX_C_SOURCE 200809L

#include "io/graph.h"

#include "io/graph_builder.h"
#include "io/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED "\"%.40s\""

/* Without the caller's word, a largest id may exceed the number of words in the file by this
 * factor: beyond it the id is taken for a slip, and no memory is spent on it. */
#define SPARSEST 1000

typedef struct word {
    const char *text;
    int64_t line;
} word;

typedef struct words {
    const char *path;
    gbs_io_error *error;
    word *word; /* [count] */
    int64_t count;
} words;

static gbs_io_status fail_at(const words *w, int64_t at, const char *what)
{
    return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, w->word[at].line, "%s, at " QUOTED,
                            what, w->word[at].text);
}

/* A comment runs from a word that starts with # to the end of its line. */
static gbs_io_status cut(char *text, int64_t bytes, words *out)
{
    int64_t room = bytes / 2 + 1; /* a word and a blank take two bytes */
    out->word = malloc((size_t)room * sizeof *out->word);
    if (!out->word)
        return gbs_io_fail_memory(out->error, out->path, room, (int64_t)sizeof *out->word);
    int64_t number = 0;
    for (char *line; (line = gbs_text_line(&text));) {
        number++;
        for (char *next; (next = gbs_text_word(&line)) && *next != '#';)
            out->word[out->count++] = (word){next, number};
    }
    if (out->count)
        return GBS_IO_OK;
    return gbs_io_fail(out->error, GBS_IO_CONTENT, out->path, "is empty");
}

/* How many words the line of word `at` has from there on. */
static int64_t rest_of_line(const words *w, int64_t at)
{
    int64_t end = at;
    while (end < w->count && w->word[end].line == w->word[at].line)
        end++;
    return end - at;
}

static gbs_io_status whole_number(const words *w, int64_t at, const char *what, int64_t low,
                                  int64_t high, int64_t *value)
{
    gbs_number result = gbs_text_int64(w->word[at].text, value);
    if (result == GBS_NUMBER_OK && *value >= low && *value <= high)
        return GBS_IO_OK;
    return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, w->word[at].line,
                            result == GBS_NUMBER_NONE ? "the %s " QUOTED " is not a whole number"
                                                      : "the %s %.40s is not within %" PRId64
                                                        " ... %" PRId64,
                            what, w->word[at].text, low, high);
}

/* The number of sites that word `at` states, held against the file's own size, since each site
 * takes two words, and against the caller's. */
static gbs_io_status read_site_count(const words *w, int64_t at, int64_t asked, int64_t *nodes)
{
    gbs_io_status status = whole_number(w, at, "number of sites", 1, INT32_MAX, nodes);
    if (status)
        return status;
    if (asked && asked != *nodes)
        return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, w->word[at].line,
                                "the file has %" PRId64 " %s, but --nodes is %" PRId64, *nodes,
                                gbs_plural(*nodes, "site", "sites"), asked);
    if (*nodes > w->count / 2)
        return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, w->word[at].line,
                                "%" PRId64 " %s announced, but the file ends after line %" PRId64,
                                *nodes, gbs_plural(*nodes, "site is", "sites are"),
                                w->word[w->count - 1].line);
    return GBS_IO_OK;
}

static gbs_io_status check_site_total(const words *w, int64_t at, int64_t sites, int64_t nodes)
{
    if (sites < nodes)
        return gbs_io_fail(w->error, GBS_IO_CONTENT, w->path,
                           "ends after line %" PRId64 " with %" PRId64 " of %" PRId64 " %s",
                           w->word[w->count - 1].line, sites, nodes,
                           gbs_plural(nodes, "site", "sites"));
    if (at < w->count)
        return fail_at(w, at, "something follows the last site");
    return GBS_IO_OK;
}

/* INLA, first pass: every line is a site, its number of neighbours, and as many ids.  Fills
 * at[site in the file's order] and finds the smallest id. */
static gbs_io_status scan_inla(const words *w, int64_t nodes, int64_t *at, int64_t *base)
{
    int64_t next = 1, site = 0;
    *base = INT64_MAX;
    for (; site < nodes && next < w->count; site++) {
        int64_t id = 0, neighbours = 0, length = rest_of_line(w, next);
        if (length < 2)
            return fail_at(w, next, "a site needs an id and a number of neighbours");
        gbs_io_status status = whole_number(w, next, "site", 0, INT32_MAX, &id);
        if (!status)
            status = whole_number(w, next + 1, "number of neighbours", 0, nodes - 1, &neighbours);
        if (status)
            return status;
        if (length != 2 + neighbours)
            return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, w->word[next].line,
                                    "site %" PRId64 " announces %" PRId64 " %s and lists %" PRId64,
                                    id, neighbours,
                                    gbs_plural(neighbours, "neighbour", "neighbours"), length - 2);
        at[site] = next;
        *base = id < *base ? id : *base;
        next += length;
    }
    return check_site_total(w, next, site, nodes);
}

static gbs_io_status check_base(const words *w, int64_t base)
{
    if (base <= 1)
        return GBS_IO_OK;
    return gbs_io_fail(w->error, GBS_IO_CONTENT, w->path,
                       "the smallest id is %" PRId64 "; ids must start from 0 or from 1 (a site "
                       "without neighbours has its line in the INLA format: \"ID 0\")",
                       base);
}

/* INLA, second pass, with the base known.  line_of[site] is where a site was, 0 if not yet. */
static gbs_io_status list_inla(const words *w, const int64_t *at, int64_t *line_of,
                               gbs_graph_builder *builder)
{
    int64_t low = builder->base, high = builder->base + builder->nodes - 1;
    for (int64_t n = 0; n < builder->nodes; n++) {
        int64_t id = 0, neighbour = 0, line = w->word[at[n]].line;
        int64_t length = rest_of_line(w, at[n]);
        gbs_io_status status = whole_number(w, at[n], "site", low, high, &id);
        if (status)
            return status;
        if (line_of[id - low])
            return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, line,
                                    "site %" PRId64 " is already at line %" PRId64, id,
                                    line_of[id - low]);
        line_of[id - low] = line;
        for (int64_t k = 2; k < length; k++) {
            status = whole_number(w, at[n] + k, "neighbour", low, high, &neighbour);
            if (!status)
                status = gbs_graph_builder_add(builder, id - low, neighbour - low, line);
            if (status)
                return status;
        }
    }
    return GBS_IO_OK;
}

static gbs_io_status read_inla(const words *w, gbs_graph_builder *builder)
{
    size_t nodes = (size_t)builder->nodes;
    int64_t *at = malloc(nodes * sizeof *at), *line_of = calloc(nodes, sizeof *line_of);
    gbs_io_status status = GBS_IO_OK;
    if (!at || !line_of)
        status = gbs_io_fail_memory(w->error, w->path, builder->nodes, (int64_t)sizeof *at);
    if (!status)
        status = scan_inla(w, builder->nodes, at, &builder->base);
    if (!status)
        status = check_base(w, builder->base);
    if (!status)
        status = gbs_graph_builder_open(builder, w->count);
    if (!status)
        status = list_inla(w, at, line_of, builder);
    free(line_of);
    free(at);
    return status;
}

/* GAL, first pass: a line with an id and a number of neighbours, then that many ids on one
 * line or several. */
static gbs_io_status scan_gal(const words *w, int64_t first, int64_t nodes, int64_t *at)
{
    int64_t next = first, site = 0;
    for (; site < nodes && next < w->count; site++) {
        int64_t neighbours = 0;
        if (rest_of_line(w, next) != 2)
            return fail_at(w, next, "a line with an id and a number of neighbours is expected");
        gbs_io_status status =
            whole_number(w, next + 1, "number of neighbours", 0, nodes - 1, &neighbours);
        if (status)
            return status;
        at[site] = next;
        next += 2 + neighbours;
        if (next > w->count || (next < w->count && w->word[next].line == w->word[next - 1].line))
            return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, w->word[at[site]].line,
                                    "site %.40s announces %" PRId64
                                    " %s; its lines do not hold as many",
                                    w->word[at[site]].text, neighbours,
                                    gbs_plural(neighbours, "neighbour", "neighbours"));
    }
    return check_site_total(w, next, site, nodes);
}

typedef struct site_name {
    const char *text;
    int64_t site, line;
} site_name;

static int compare_names(const void *left, const void *right)
{
    const site_name *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : a->site < b->site ? -1 : a->site > b->site;
}

static int compare_text_to_name(const void *text, const void *name)
{
    return strcmp(text, ((const site_name *)name)->text);
}

/* Fills both directions between sites and names; refuses a name that is there twice. */
static gbs_io_status name_sites(const words *w, const int64_t *at, int64_t nodes, const char **name,
                                site_name *sorted)
{
    for (int64_t site = 0; site < nodes; site++) {
        const word *id = &w->word[at[site]];
        name[site] = id->text;
        sorted[site] = (site_name){id->text, site, id->line};
    }
    qsort(sorted, (size_t)nodes, sizeof *sorted, compare_names);
    for (int64_t i = 1; i < nodes; i++) {
        if (strcmp(sorted[i - 1].text, sorted[i].text) == 0)
            return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, sorted[i].line,
                                    "site %.40s is already at line %" PRId64, sorted[i].text,
                                    sorted[i - 1].line);
    }
    return GBS_IO_OK;
}

/* GAL, second pass. */
static gbs_io_status list_gal(const words *w, const int64_t *at, const site_name *sorted,
                              gbs_graph_builder *builder)
{
    for (int64_t site = 0; site < builder->nodes; site++) {
        int64_t end = site + 1 < builder->nodes ? at[site + 1] : w->count;
        for (int64_t k = at[site] + 2; k < end; k++) {
            const site_name *found = bsearch(w->word[k].text, sorted, (size_t)builder->nodes,
                                             sizeof *sorted, compare_text_to_name);
            if (!found)
                return gbs_io_fail_line(w->error, GBS_IO_CONTENT, w->path, w->word[k].line,
                                        "site %.40s lists %.40s, which is not a site of this file",
                                        w->word[at[site]].text, w->word[k].text);
            gbs_io_status status =
                gbs_graph_builder_add(builder, site, found->site, w->word[k].line);
            if (status)
                return status;
        }
    }
    return GBS_IO_OK;
}

/* Leaves the names in builder->name, for the messages to come; the caller frees them. */
static gbs_io_status read_gal(const words *w, int64_t first, gbs_graph_builder *builder)
{
    size_t nodes = (size_t)builder->nodes;
    int64_t *at = calloc(nodes, sizeof *at);
    const char **name = malloc(nodes * sizeof *name);
    site_name *sorted = malloc(nodes * sizeof *sorted);
    gbs_io_status status = GBS_IO_OK;
    builder->name = name;
    if (!at || !name || !sorted)
        status = gbs_io_fail_memory(w->error, w->path, builder->nodes, (int64_t)sizeof *sorted);
    if (!status)
        status = scan_gal(w, first, builder->nodes, at);
    if (!status)
        status = name_sites(w, at, builder->nodes, name, sorted);
    if (!status)
        status = gbs_graph_builder_open(builder, w->count);
    if (!status)
        status = list_gal(w, at, sorted, builder);
    free(sorted);
    free(at);
    return status;
}

/* Edge list, first pass: smallest and largest id. */
static gbs_io_status scan_edges(const words *w, int64_t *smallest, int64_t *largest)
{
    *smallest = INT64_MAX;
    *largest = 0;
    for (int64_t at = 0; at < w->count; at++) {
        int64_t id = 0;
        if (at % 2 == 0 && rest_of_line(w, at) != 2)
            return fail_at(w, at, "an edge list has two ids a line, this line does not");
        gbs_io_status status = whole_number(w, at, "id", 0, INT32_MAX - 1, &id);
        if (status)
            return status;
        *smallest = id < *smallest ? id : *smallest;
        *largest = id > *largest ? id : *largest;
    }
    return check_base(w, *smallest);
}

static gbs_io_status read_edges(const words *w, int64_t asked, gbs_graph_builder *builder)
{
    int64_t largest, a = 0, b = 0;
    gbs_io_status status = scan_edges(w, &builder->base, &largest);
    if (status)
        return status;
    builder->nodes = asked ? asked : largest - builder->base + 1;
    if (!asked && builder->nodes / SPARSEST > w->count)
        return gbs_io_fail(w->error, GBS_IO_CONTENT, w->path,
                           "the largest id is %" PRId64 ", but the list has only %" PRId64
                           " %s; if that is meant, give the number of sites by --nodes",
                           largest, w->count, gbs_plural(w->count, "id", "ids"));
    status = gbs_graph_builder_open(builder, w->count / 2);
    int64_t low = builder->base, high = builder->base + builder->nodes - 1;
    for (int64_t at = 0; !status && at < w->count; at += 2) {
        status = whole_number(w, at, "id", low, high, &a);
        if (!status)
            status = whole_number(w, at + 1, "id", low, high, &b);
        if (!status)
            status = gbs_graph_builder_add(builder, a - low, b - low, w->word[at].line);
    }
    return status;
}

/* INLA and GAL may both start with a lone count.  The first site with neighbours tells them
 * apart: INLA lists them on the same line.  Where there is none the two mean the same. */
static gbs_graph_format tell_gal_from_inla(const words *w)
{
    for (int64_t at = 1, length; at < w->count; at += length) {
        length = rest_of_line(w, at);
        if (length != 2)
            return GBS_GRAPH_INLA;
        if (strcmp(w->word[at + 1].text, "0") != 0)
            return GBS_GRAPH_GAL;
    }
    return GBS_GRAPH_INLA;
}

static gbs_io_status read_graph(const words *w, int64_t asked, gbs_graph_builder *builder,
                                gbs_graph *out)
{
    int64_t first = rest_of_line(w, 0);
    int long_header = first >= 4 && strcmp(w->word[0].text, "0") == 0;
    if (first == 2) {
        out->format = GBS_GRAPH_EDGES;
        builder->undirected = 1;
        return read_edges(w, asked, builder);
    }
    if (first != 1 && !long_header)
        return fail_at(w, 0,
                       "is none of: INLA (the first line is the number of sites), GAL (the number "
                       "of sites, or 0, that number and two words), edge list (two ids a line)");
    out->format = long_header ? GBS_GRAPH_GAL : tell_gal_from_inla(w);
    gbs_io_status status = read_site_count(w, long_header ? 1 : 0, asked, &builder->nodes);
    if (status)
        return status;
    return out->format == GBS_GRAPH_GAL ? read_gal(w, first, builder) : read_inla(w, builder);
}

static gbs_io_status read_text(char *text, gbs_input *input, int64_t nodes, gbs_graph *out,
                               gbs_io_error *error)
{
    words w = {.path = input->path, .error = error};
    gbs_graph_builder builder = {.path = input->path, .error = error};
    gbs_io_status status = cut(text, input->bytes, &w);
    if (!status)
        status = read_graph(&w, nodes, &builder, out);
    if (!status)
        status = gbs_graph_builder_finish(&builder, out);
    gbs_graph_builder_close(&builder);
    free((void *)builder.name);
    free(w.word);
    return status;
}

gbs_io_status gbs_graph_read_input(gbs_input *input, int64_t nodes, gbs_graph *out,
                                   gbs_io_error *error)
{
    *out = (gbs_graph){0};
    if (nodes < 0 || nodes > INT32_MAX)
        return gbs_io_fail(error, GBS_IO_CONTENT, input->path, "%" PRId64 " sites are asked for",
                           nodes);
    char *text;
    gbs_io_status status = gbs_input_text(input, &text, error);
    if (status)
        return status;
    status = read_text(text, input, nodes, out, error);
    free(text);
    if (status)
        gbs_graph_free(out);
    return status;
}

gbs_io_status gbs_graph_read(const char *path, int64_t nodes, gbs_graph *out, gbs_io_error *error)
{
    *out = (gbs_graph){0};
    gbs_input input;
    gbs_io_status status = gbs_input_open(&input, path, error);
    if (status)
        return status;
    status = gbs_graph_read_input(&input, nodes, out, error);
    gbs_input_close(&input);
    return status;
}

void gbs_graph_free(gbs_graph *graph)
{
    free(graph->start);
    free(graph->neighbour);
    *graph = (gbs_graph){0};
}

const char *gbs_graph_format_name(gbs_graph_format format)
{
    static const char *const names[] = {
        [GBS_GRAPH_INLA] = "INLA", [GBS_GRAPH_GAL] = "GAL", [GBS_GRAPH_EDGES] = "edge list"};
    return names[format];
}
