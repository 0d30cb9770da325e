/* Draws in one file or in several, whose chains are then put one behind the other, as a source for
 * reports. */
#ifndef GIBBSITE_CLI_DRAW_FILES_H
#define GIBBSITE_CLI_DRAW_FILES_H

#include "report.h"

#include "io/results.h"

typedef struct draw_files {
    const char *const *path; /* [count] */
    gbs_results_reader **reader;
    int64_t count;
    int64_t *number; /* [chains] global chain numbers */
    draw_source source;
} draw_files;

/* Opens the files, which must agree in their draws and their variables' names; says where a file
 * holds fewer draws than it announces.  `path` must stay while *files is used.
 * Owns: *files is ended by draw_files_close, whatever it returns. */
exit_code draw_files_open(draw_files *files, const char *const *path, int64_t count);

void draw_files_close(draw_files *files);

#endif
