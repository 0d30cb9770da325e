/* From "site a lists site b, at this line" to checked neighbour lists.  Private to src/io;
 * graph.c reads the formats and feeds this. */
#ifndef GBS_IO_GRAPH_BUILDER_H
#define GBS_IO_GRAPH_BUILDER_H

#include "io/error.h"
#include "io/graph.h"

#include <stdint.h>

typedef struct gbs_listing {
    int32_t from, to; /* from 0 */
    int64_t line;
} gbs_listing;

typedef struct gbs_graph_builder {
    const char *path;
    gbs_io_error *error;
    int64_t nodes;
    int64_t base;         /* ids are base + site, */
    const char **name;    /* [nodes] or, where not NULL, these words */
    gbs_listing *listing; /* [room] */
    int64_t count, room;
    int undirected; /* 1: a listing stands for both directions (edge list) */
} gbs_graph_builder;

/* Makes room for `room` listings; with undirected each takes two. */
gbs_io_status gbs_graph_builder_open(gbs_graph_builder *builder, int64_t room);

/* Adds one listing.  Fails: CONTENT if a site lists itself. */
gbs_io_status gbs_graph_builder_add(gbs_graph_builder *builder, int64_t from, int64_t to,
                                    int64_t line);

/* Sorts the listings, checks that none is there twice and that each is answered, and makes the
 * lists.  Sets nodes, links, start and neighbour of *out. */
gbs_io_status gbs_graph_builder_finish(gbs_graph_builder *builder, gbs_graph *out);

void gbs_graph_builder_close(gbs_graph_builder *builder);

#endif
