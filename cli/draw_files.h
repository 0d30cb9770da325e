/* Draws in one file or in several, as a source for reports: chains of several files are put side by
 * side, and the draws of a run that went on behind those it went on from. */
#ifndef GIBBSITE_CLI_DRAW_FILES_H
#define GIBBSITE_CLI_DRAW_FILES_H

#include "report.h"

#include "io/results.h"

/* Where a file's draws go among all. */
typedef struct draw_place {
    int64_t chain, draw; /* its first ones */
    int64_t follows;     /* the file whose draws these go on from; -1: they begin */
    bool followed;
} draw_place;

typedef struct draw_files {
    const char *const *path; /* [count] */
    gbs_results_reader **reader;
    draw_place *place; /* [count] */
    int64_t count;
    int64_t *number; /* [chains] global chain numbers */
    draw_source source;
} draw_files;

/* Opens the files, which must agree in their variables' names, and their chains in the number of
 * draws; says where a file holds fewer draws than it announces.  `path` must stay while *files is
 * used. Owns: *files is ended by draw_files_close, whatever it returns. */
exit_code draw_files_open(draw_files *files, const char *const *path, int64_t count);

void draw_files_close(draw_files *files);

#endif
