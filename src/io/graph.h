/* Neighbour graphs, as spatial statistics exchanges them, recognised by content:
 *   INLA      "n", then for each site: id, number of neighbours, their ids
 *   GAL       "0 n shapefile idfield" or "n", then for each site two lines: id and number of
 *             neighbours; their ids.  Ids are any words; sites count in order of appearance
 *   edge list a pair of ids a line
 * Ids of the first and the third are whole numbers from 0 or from 1, whichever is the
 * smallest.  Lines that start with # are comments, blank lines are skipped. */
#ifndef GBS_IO_GRAPH_H
#define GBS_IO_GRAPH_H

#include "io/error.h"
#include "io/file.h"

#include <stdint.h>

typedef enum gbs_graph_format {
    GBS_GRAPH_INLA = 0,
    GBS_GRAPH_GAL = 1,
    GBS_GRAPH_EDGES = 2
} gbs_graph_format;

typedef struct gbs_graph {
    int64_t nodes;      /* >= 1 */
    int64_t links;      /* pairs; 2 * links = start[nodes] */
    int64_t *start;     /* [nodes + 1]: neighbours of i are neighbour[start[i] .. start[i+1]-1] */
    int32_t *neighbour; /* [2 * links], from 0, ascending within a site */
    gbs_graph_format format;
    int64_t base; /* id of site 0 in the file: 0 or 1; 0 for GAL */
} gbs_graph;

/* Reads a graph file or pipe.  `nodes` is the caller's count (--nodes), 0 if not given: an
 * edge list without it has as many nodes as its largest id says; where the file states a count
 * itself the two must agree.
 * Owns: *out is the caller's, ended by gbs_graph_free.
 * Fails: FILE; MEMORY; CONTENT, naming the line and the ids: unknown format, an id out of
 * range or listed twice, a site listed as its own neighbour, a pair given twice, a neighbour
 * whose own list does not answer, counts that disagree.  *out is then all zero. */
gbs_io_status gbs_graph_read(const char *path, int64_t nodes, gbs_graph *out, gbs_io_error *error);

/* The same from an input that is already open. */
gbs_io_status gbs_graph_read_input(gbs_input *input, int64_t nodes, gbs_graph *out,
                                   gbs_io_error *error);

void gbs_graph_free(gbs_graph *graph); /* accepts an all-zero graph; leaves it so */

const char *gbs_graph_format_name(gbs_graph_format format); /* "INLA", "GAL", "edge list" */

#endif
