/* Neighbour graphs: the three formats are recognised by content and give the same lists;
 * whatever is inconsistent is refused with its line and its ids. */
#define _POSIX_C_SOURCE 200809L

#include "io/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "unit/io_scratch.h"

static gbs_io_status read_and_free(const char *path, gbs_io_error *error)
{
    gbs_graph graph;
    gbs_io_status status = gbs_graph_read(path, 0, &graph, error);
    gbs_graph_free(&graph);
    return status;
}

/* Neighbour lists as text, "1 2|0|0|" for a star of three. */
static void print_lists(const gbs_graph *graph, char *to, size_t capacity)
{
    size_t used = 0;
    to[0] = 0;
    for (int64_t site = 0; site < graph->nodes; site++) {
        for (int64_t k = graph->start[site]; k < graph->start[site + 1]; k++)
            used += (size_t)snprintf(to + used, capacity - used, "%s%d",
                                     k > graph->start[site] ? " " : "", graph->neighbour[k]);
        used += (size_t)snprintf(to + used, capacity - used, "|");
    }
}

static void assert_graph(const char *what, const char *text, int64_t nodes, gbs_graph_format format,
                         int64_t base, const char *expected)
{
    gbs_graph graph;
    gbs_io_error error;
    char lists[512];
    assert_accepted(what, gbs_graph_read(scratch_text("g", text), nodes, &graph, &error), &error);
    print_lists(&graph, lists, sizeof lists);
    if (strcmp(lists, expected) != 0)
        fail_msg("%s: expected lists %s, got %s", what, expected, lists);
    if (graph.format != format)
        fail_msg("%s: expected format %s, got %s", what, gbs_graph_format_name(format),
                 gbs_graph_format_name(graph.format));
    assert_count("base", graph.base, base);
    assert_count("twice the links", graph.start[graph.nodes], 2 * graph.links);
    gbs_graph_free(&graph);
}

/* The path 0 - 1 - 2 with 3 apart, in every spelling. */
static void test_formats(void **state)
{
    (void)state;
    static const char *const lists = "1|0 2|1||";
    assert_graph("INLA from 1", "4\n1 1 2\n2 2 1 3\n3 1 2\n4 0\n", 0, GBS_GRAPH_INLA, 1, lists);
    assert_graph("INLA from 0", "4\n0 1 1\n1 2 0 2\n2 1 1\n3 0\n", 0, GBS_GRAPH_INLA, 0, lists);
    assert_graph("INLA shuffled, with comments, blank lines and CRLF",
                 "# a path\r\n\r\n4 # sites\r\n4 0\r\n2 2 3 1\r\n\r\n3 1 2\r\n1 1 2", 4,
                 GBS_GRAPH_INLA, 1, lists);
    assert_graph("GAL, long header", "0 4 shape ID\nb 1\na\na 2\nb 37\n37 1\na\nz 0\n\n", 0,
                 GBS_GRAPH_GAL, 0, lists);
    assert_graph("GAL, long header, no line for no neighbours",
                 "0 4 shape ID\nb 1\na\na 2\n37 b\n37 1\na\nz 0\n", 4, GBS_GRAPH_GAL, 0, lists);
    assert_graph("GAL, short header, numbers that are only names",
                 "4\n9 1\n7\n7 2\n9\n08\n08 1\n7\n8 0", 0, GBS_GRAPH_GAL, 0, lists);
    assert_graph("GAL that starts with a lone site", "3\nz 0\n\na 1\nb\nb 1\na\n", 0, GBS_GRAPH_GAL,
                 0, "|2|1|");
    assert_graph("INLA that starts with a lone site", "3\n1 0\n2 1 3\n3 1 2\n", 0, GBS_GRAPH_INLA,
                 1, "|2|1|");
    assert_graph("edges from 1", "1 2\n2 3\n", 4, GBS_GRAPH_EDGES, 1, lists);
    assert_graph("edges from 0", "# from to\n2 1\n\n1 0\n", 4, GBS_GRAPH_EDGES, 0, lists);
    assert_graph("edges, nodes by the largest id", "1 2\n4 3\n", 0, GBS_GRAPH_EDGES, 1, "1|0|3|2|");
    assert_graph("no links at all", "2\n1 0\n2 0\n", 0, GBS_GRAPH_INLA, 1, "||");
    assert_graph("one site", "1\n0 0\n", 0, GBS_GRAPH_INLA, 0, "|");
    print_message("INLA, GAL and edge lists, from 0 and from 1, give the same lists\n");
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t nodes, line;
        const char *words;
    } cases[] = {
        {"", 0, 0, "is empty"},
        {"# 3\n\n", 0, 0, "is empty"},
        {"1 2 3\n", 0, 1, "is none of: INLA"},
        {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", 0, 1, "is none of"},
        {"x\n1 0\n", 0, 1, "the number of sites \"x\" is not a whole number"},
        {"0\n1 0\n", 0, 1, "the number of sites 0 is not within 1 ..."},
        {"-1\n1 0\n", 0, 1, "the number of sites -1 is not within 1 ..."},
        {"99999999999999999999\n1 0\n", 0, 1, "sites 99999999999999999999 is not within"},
        {"2000000000\n1 0\n", 0, 1,
         "2000000000 sites are announced, but the file ends after line 2"},
        {"2\n1 1 2\n2 1 1\n", 3, 1, "the file has 2 sites, but --nodes is 3"},
        /* INLA */
        {"3\n1 1 2\n2 1 1\n3 1 2\n", 0, 4,
         "site 3 lists 2 as its neighbour, but 2 does not list 3"},
        {"3\n0 2 1 2\n1 1 0\n2 0\n", 0, 2,
         "site 0 lists 2 as its neighbour, but 2 does not list 0"},
        {"2\n1 2 2 2\n2 1 1\n", 0, 2, "number of neighbours 2 is not within 0 ... 1"},
        {"3\n1 2 2 2\n2 1 1\n3 0\n", 0, 2, "site 1 lists 2 twice"},
        {"2\n1 1 1\n2 0\n", 0, 2, "site 1 is listed as its own neighbour"},
        {"3\n1 2 2 4\n2 1 1\n3 0\n", 0, 2, "the neighbour 4 is not within 1 ... 3"},
        {"3\n1 1 0\n2 0\n3 0\n", 0, 2, "the neighbour 0 is not within 1 ... 3"},
        {"3\n1 1 -2\n2 0\n3 0\n", 0, 2, "the neighbour -2 is not within 1 ... 3"},
        {"3\n1 1 x\n2 0\n3 0\n", 0, 2, "the neighbour \"x\" is not a whole number"},
        {"3\n1 1 2\n2 1 1\n2 0\n", 0, 4, "site 2 is already at line 3"},
        {"3\n1 1 2\n2 1 1\n4 0\n", 0, 4, "the site 4 is not within 1 ... 3"},
        {"3\n0 1 1\n1 1 0\n3 0\n", 0, 4, "the site 3 is not within 0 ... 2"},
        {"3\n2 1 3\n3 1 2\n4 0\n", 0, 0, "the smallest id is 2; ids must start from 0 or from 1"},
        {"3\n1 1 2 3\n2 1 1\n3 0\n", 0, 2, "site 1 announces 1 neighbour and lists 2"},
        {"3\n1 2 2\n2 1 1\n3 0\n", 0, 2, "site 1 announces 2 neighbours and lists 1"},
        {"3\n1 1 2\n2 1 1\n", 0, 0, "ends after line 3 with 2 of 3 sites"},
        {"2\n1 1 2\n2 1 1\n3 0\n", 0, 4, "something follows the last site, at \"3\""},
        {"2\n1 1 2\n2\n", 0, 3, "a site needs an id and a number of neighbours"},
        /* GAL */
        {"0 3 s i\na 1\nb\nb 1\na\nc 1\na\n", 0, 7,
         "site c lists a as its neighbour, but a does not list c"},
        {"0 2 s i\na 1\nc\nb 0\n", 0, 3, "site a lists c, which is not a site of this file"},
        {"0 2 s i\na 1\na\nb 0\n", 0, 3, "site a is listed as its own neighbour"},
        {"0 3 s i\na 2\nb b\nb 1\na\nc 0\n", 0, 3, "site a lists b twice"},
        {"0 3 s i\na 1\nb\na 1\nb\nb 0\n", 0, 4, "site a is already at line 2"},
        {"0 2 s i\na 2\nb\nb 1\na\n", 0, 2, "neighbours 2 is not within 0 ... 1"},
        {"0 3 s i\na 2\nb\nb 1\na\nc 0\n", 0, 2, "site a announces 2 neighbours; its lines do not"},
        {"0 2 s i\na 1\nb a\nb 1\na\n", 0, 2, "site a announces 1 neighbour; its lines do not"},
        {"0 2 s i\na 1\nb\nb 1\n", 0, 4, "site b announces 1 neighbour; its lines do not hold"},
        {"0 2 s i\na 1\nb\n", 0, 0, "ends after line 3 with 1 of 2 sites"},
        {"0 1 s i\na 0\nb 0\n", 0, 3, "something follows the last site, at \"b\""},
        {"0 2 s i\na x\nb 0\n", 0, 2, "the number of neighbours \"x\" is not a whole number"},
        {"0 2 s i\na 1\nb\nb\n", 0, 4, "a line with an id and a number of neighbours is expected"},
        /* edge lists */
        {"1 2\n2 1\n", 0, 2, "the pair 1 2 is already at line 1"},
        {"1 2\n3 4\n1 2\n", 0, 3, "the pair 1 2 is already at line 1"},
        {"1 2\n2 2\n", 0, 2, "site 2 is listed as its own neighbour"},
        {"1 2\n2 3 4\n", 0, 2, "an edge list has two ids a line, this line does not"},
        {"1 2\n2\n", 0, 2, "an edge list has two ids a line, this line does not"},
        {"1 2\n2 x\n", 0, 2, "the id \"x\" is not a whole number"},
        {"1 2\n2 -3\n", 0, 2, "the id -3 is not within 0 ..."},
        {"1 2\n2 5\n", 4, 2, "the id 5 is not within 1 ... 4"},
        {"5 6\n6 7\n", 0, 0, "the smallest id is 5; ids must start from 0 or from 1"},
        {"1 2\n1 2000000000\n", 0, 0,
         "the largest id is 2000000000, but the list has only 4 ids; if that is meant, give the "
         "number of sites by --nodes"},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        gbs_graph graph;
        gbs_io_error error;
        gbs_io_status status =
            gbs_graph_read(scratch_text("g", cases[i].text), cases[i].nodes, &graph, &error);
        assert_refused(cases[i].text, status, &error, GBS_IO_CONTENT, cases[i].words);
        assert_count(cases[i].text, error.line, cases[i].line);
        assert_null(graph.start);
    }
    gbs_io_error error;
    assert_refused("missing", read_and_free(scratch_path("none"), &error), &error, GBS_IO_FILE,
                   "cannot be opened");
    print_message("%zu inconsistent graphs are refused, each with its line and ids\n", count);
}

static void test_damage(void **state)
{
    (void)state;
    static const char *const inla = "4\n1 1 2\n2 2 1 3\n3 1 2\n4 0\n";
    static const char *const gal = "0 4 shape ID\nb 1\na\na 2\nb 37\n37 1\na\nz 0\n\n";
    static const char *const edges = "1 2\n2 3\n3 4\n";
    damage_every_byte("INLA", inla, strlen(inla), read_and_free);
    damage_every_byte("GAL", gal, strlen(gal), read_and_free);
    damage_every_byte("edge list", edges, strlen(edges), read_and_free);
}

/* A ring of 20,000 sites with shuffled lines: sizes beyond anything done by hand. */
static void test_large(void **state)
{
    (void)state;
    enum { SITES = 20000, STEP = 7919 }; /* coprime, so the lines run through all sites */
    const char *path = scratch_path("ring");
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(stream, "%d\n", SITES);
    for (int n = 0; n < SITES; n++) {
        int site = (int)((int64_t)n * STEP % SITES);
        fprintf(stream, "%d 2 %d %d\n", site, (site + 1) % SITES, (site + SITES - 1) % SITES);
    }
    assert_int_equal(fclose(stream), 0);
    gbs_graph graph;
    gbs_io_error error;
    assert_accepted("ring", gbs_graph_read(path, SITES, &graph, &error), &error);
    assert_count("links", graph.links, SITES);
    for (int site = 0; site < SITES; site++) {
        int before = (site + SITES - 1) % SITES, after = (site + 1) % SITES;
        const int32_t *got = &graph.neighbour[graph.start[site]];
        assert_count("start", graph.start[site], 2 * site);
        assert_count("smaller neighbour", got[0], before < after ? before : after);
        assert_count("larger neighbour", got[1], before < after ? after : before);
    }
    gbs_graph_free(&graph);
    print_message("a ring of %d sites in shuffled lines comes out sorted\n", SITES);
}

static void assert_file(const char *path, int64_t nodes, int64_t links, int64_t islands,
                        gbs_graph_format format, int64_t base)
{
    gbs_graph graph;
    gbs_io_error error;
    int64_t alone = 0;
    assert_accepted(path, gbs_graph_read(path, 0, &graph, &error), &error);
    assert_count("nodes", graph.nodes, nodes);
    assert_count("links", graph.links, links);
    assert_count("format", graph.format, format);
    assert_count("base", graph.base, base);
    for (int64_t site = 0; site < nodes; site++)
        alone += graph.start[site] == graph.start[site + 1];
    assert_count("sites without neighbours", alone, islands);
    gbs_graph_free(&graph);
}

static void test_states(void **state)
{
    (void)state;
    assert_file(GBS_TEST_DATA "/../examples/data/us_states.graph", 48, 105, 0, GBS_GRAPH_INLA, 1);
    print_message("the project's own graph: 48 states, 105 borders\n");
}

/* The files of ../shared, where they are, with the counts of their README. */
static void test_shared_files(void **state)
{
    (void)state;
#define SPATIAL GBS_TEST_DATA "/../../shared/data/spatial"
    if (access(SPATIAL, R_OK) != 0) {
        print_message("skipped: there is no %s\n", SPATIAL);
        skip();
    }
    assert_file(SPATIAL "/scotland.graph", 56, 132, 0, GBS_GRAPH_INLA, 1);
    assert_file(SPATIAL "/germany.adjacency", 544, 1416, 0, GBS_GRAPH_INLA, 0);
    assert_file(SPATIAL "/columbus.gal", 49, 115, 0, GBS_GRAPH_GAL, 0);
    assert_file(SPATIAL "/ncCR85.gal", 100, 246, 0, GBS_GRAPH_GAL, 0);
    assert_file(SPATIAL "/ncCC89.gal", 100, 197, 2, GBS_GRAPH_GAL, 0);
    gbs_graph graph;
    gbs_io_error error;
    assert_accepted("NC", gbs_graph_read(SPATIAL "/ncCC89.gal", 0, &graph, &error), &error);
    assert_count("neighbours of site 27", graph.start[28] - graph.start[27], 0);
    assert_count("neighbours of site 47", graph.start[48] - graph.start[47], 0);
    gbs_graph_free(&graph);
    print_message("5 graphs of ../shared have the counts of their README\n");
#undef SPATIAL
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damage),  cmocka_unit_test(test_large),
        cmocka_unit_test(test_states),  cmocka_unit_test(test_shared_files),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
