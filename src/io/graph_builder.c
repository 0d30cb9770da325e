/* Neighbour lists from listings: one sort by site and neighbour, in which duplicates meet;
 * then each listing looks for its answer by bisection. */
#include "io/graph_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ID_BYTES 48

/* The id of a site as the file writes it, shortened. */
static const char *id_of(const gbs_graph_builder *b, int64_t site, char *to)
{
    if (b->name)
        snprintf(to, ID_BYTES, "%.40s", b->name[site]);
    else
        snprintf(to, ID_BYTES, "%" PRId64, b->base + site);
    return to;
}

gbs_io_status gbs_graph_builder_open(gbs_graph_builder *builder, int64_t room)
{
    builder->room = builder->undirected ? 2 * room : room;
    builder->listing = malloc(((size_t)builder->room + 1) * sizeof *builder->listing);
    if (builder->listing)
        return GBS_IO_OK;
    return gbs_io_fail_memory(builder->error, builder->path, builder->room,
                              (int64_t)sizeof *builder->listing);
}

gbs_io_status gbs_graph_builder_add(gbs_graph_builder *builder, int64_t from, int64_t to,
                                    int64_t line)
{
    char id[ID_BYTES];
    if (from == to)
        return gbs_io_fail_line(builder->error, GBS_IO_CONTENT, builder->path, line,
                                "site %s is listed as its own neighbour", id_of(builder, from, id));
    builder->listing[builder->count++] = (gbs_listing){(int32_t)from, (int32_t)to, line};
    if (builder->undirected)
        builder->listing[builder->count++] = (gbs_listing){(int32_t)to, (int32_t)from, line};
    return GBS_IO_OK;
}

static int compare_listings(const void *left, const void *right)
{
    const gbs_listing *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static gbs_io_status refuse_duplicate(const gbs_graph_builder *b, const gbs_listing *second)
{
    char from[ID_BYTES], to[ID_BYTES];
    id_of(b, second->from, from);
    id_of(b, second->to, to);
    if (b->undirected)
        return gbs_io_fail_line(b->error, GBS_IO_CONTENT, b->path, second->line,
                                "the pair %s %s is already at line %" PRId64, from, to,
                                second[-1].line);
    return gbs_io_fail_line(b->error, GBS_IO_CONTENT, b->path, second->line,
                            "site %s lists %s twice", from, to);
}

static gbs_io_status refuse_asymmetry(const gbs_graph_builder *b, const gbs_listing *one)
{
    char from[ID_BYTES], to[ID_BYTES];
    return gbs_io_fail_line(b->error, GBS_IO_CONTENT, b->path, one->line,
                            "site %s lists %s as its neighbour, but %s does not list %s",
                            id_of(b, one->from, from), id_of(b, one->to, to), to, from);
}

static int lists(const gbs_graph *graph, int32_t site, int32_t neighbour)
{
    int64_t low = graph->start[site], high = graph->start[site + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (graph->neighbour[middle] < neighbour)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->start[site + 1] && graph->neighbour[low] == neighbour;
}

static gbs_io_status fill(const gbs_graph_builder *b, gbs_graph *out)
{
    int64_t k = 0;
    for (int64_t site = 0; site < b->nodes; site++) {
        out->start[site] = k;
        for (; k < b->count && b->listing[k].from == site; k++) {
            const gbs_listing *one = &b->listing[k];
            if (k > out->start[site] && one->to == one[-1].to)
                return refuse_duplicate(b, one);
            out->neighbour[k] = one->to;
        }
    }
    out->start[b->nodes] = k;
    for (k = 0; k < b->count; k++) {
        if (!lists(out, b->listing[k].to, b->listing[k].from))
            return refuse_asymmetry(b, &b->listing[k]);
    }
    return GBS_IO_OK;
}

gbs_io_status gbs_graph_builder_finish(gbs_graph_builder *builder, gbs_graph *out)
{
    qsort(builder->listing, (size_t)builder->count, sizeof *builder->listing, compare_listings);
    out->nodes = builder->nodes;
    out->base = builder->base;
    out->links = builder->count / 2;
    out->start = malloc(((size_t)builder->nodes + 1) * sizeof *out->start);
    out->neighbour = malloc(((size_t)builder->count + 1) * sizeof *out->neighbour);
    if (!out->start || !out->neighbour)
        return gbs_io_fail_memory(builder->error, builder->path, builder->nodes + builder->count,
                                  (int64_t)sizeof *out->start);
    return fill(builder, out);
}

void gbs_graph_builder_close(gbs_graph_builder *builder)
{
    free(builder->listing);
    builder->listing = NULL;
}
