/* Coefficients of a sweep, row by row (docs/reproducibility.md, "coefficients"), and their panels.
 */
#include "sampler/rows.h"

#include <math.h>
#include <string.h>

/* ---- values ---- */

static double at(gbs_type type, const void *array, int64_t index)
{
    return type == GBS_F32 ? (double)((const float *)array)[index] : ((const double *)array)[index];
}

static double matrix_entry(const gbs_rows *rows, int64_t i, int64_t j)
{
    return at(rows->matrix_type, rows->matrix, i * rows->row_stride + j);
}

static const void *matrix_row(const gbs_rows *rows, int64_t i)
{
    return (const char *)rows->matrix +
           (size_t)(i * rows->row_stride) * gbs_type_size(rows->matrix_type);
}

/* With w = 1 a float quotient rounded once equals the double quotient rounded to float, since
 * double has more than twice float's digits. */
static void sweep_row_f32(const float *restrict row, float diagonal, int64_t dim,
                          float *restrict out)
{
    for (int64_t j = 0; j < dim; ++j)
        out[j] = -row[j] / diagonal;
}

static void sweep_row_f32_relaxed(const float *restrict row, double diagonal, double omega,
                                  int64_t dim, float *restrict out)
{
    for (int64_t j = 0; j < dim; ++j)
        out[j] = (float)(omega * (-(double)row[j] / diagonal));
}

static void sweep_row_f64_to_f32(const double *restrict row, double diagonal, double omega,
                                 int64_t dim, float *restrict out)
{
    for (int64_t j = 0; j < dim; ++j)
        out[j] = (float)(omega * (-row[j] / diagonal));
}

static void sweep_row_f64(const double *restrict row, double diagonal, double omega, int64_t dim,
                          double *restrict out)
{
    for (int64_t j = 0; j < dim; ++j)
        out[j] = omega * (-row[j] / diagonal);
}

static void store(gbs_type type, void *array, int64_t index, double value)
{
    if (type == GBS_F32)
        ((float *)array)[index] = (float)value;
    else
        ((double *)array)[index] = value;
}

int gbs_rows_is_fixed(const gbs_rows *rows, int64_t i)
{
    return rows->fixed != NULL && !isnan(rows->fixed[i]);
}

static double omega_of(const gbs_rows *rows, int64_t i)
{
    return rows->bounded != NULL && rows->bounded[i] ? 1.0 : rows->omega;
}

static void fixed_row(const gbs_rows *rows, int64_t i, void *out)
{
    memset(out, 0, (size_t)rows->dim * gbs_type_size(rows->type));
    if (rows->solving)
        store(rows->type, out, i, INFINITY);
}

static void solve_row(const gbs_rows *rows, int64_t i, void *out)
{
    store(rows->type, out, i, matrix_entry(rows, i, i));
    for (int64_t j = i + 1; j < rows->dim; ++j)
        store(rows->type, out, j, -matrix_entry(rows, j, i));
}

void gbs_rows_coefficients(const gbs_rows *rows, int64_t i, void *out)
{
    if (gbs_rows_is_fixed(rows, i)) {
        fixed_row(rows, i, out);
        return;
    }
    if (rows->solving) {
        solve_row(rows, i, out);
        return;
    }
    const void *const row = matrix_row(rows, i);
    const double diagonal = at(rows->matrix_type, row, i), omega = omega_of(rows, i);
    if (rows->matrix_type == GBS_F64 && rows->type == GBS_F64)
        sweep_row_f64(row, diagonal, omega, rows->dim, out);
    else if (rows->matrix_type == GBS_F64)
        sweep_row_f64_to_f32(row, diagonal, omega, rows->dim, out);
    else if (omega == 1.0)
        sweep_row_f32(row, (float)diagonal, rows->dim, out);
    else
        sweep_row_f32_relaxed(row, diagonal, omega, rows->dim, out);
    store(rows->type, out, i, 1.0 - omega);
}

double gbs_rows_scale(const gbs_rows *rows, int64_t i)
{
    const double diagonal = matrix_entry(rows, i, i), omega = omega_of(rows, i);
    if (gbs_rows_is_fixed(rows, i))
        return 0.0;
    if (!(diagonal > 0.0))
        return NAN;
    return (1.0 / sqrt(diagonal)) * sqrt(omega * (2.0 - omega));
}

double gbs_rows_centre(const gbs_rows *rows, int64_t i, const void *coefficients)
{
    if (gbs_rows_is_fixed(rows, i))
        return rows->fixed[i];
    if (rows->location_kind == GBS_LOCATION_ZERO)
        return 0.0;
    const double location = at(rows->matrix_type, rows->location, i);
    if (rows->location_kind == GBS_LOCATION_INFORMATION)
        return omega_of(rows, i) * (location / matrix_entry(rows, i, i));
    if (rows->location_kind == GBS_LOCATION_OFFSET)
        return omega_of(rows, i) * location;
    double centre = location;
    for (int64_t j = 0; j < rows->dim; ++j)
        centre =
            fma(-at(rows->type, coefficients, j), at(rows->matrix_type, rows->location, j), centre);
    return centre;
}

/* ---- panels ---- */

int64_t gbs_panel_elements(const gbs_rows *rows)
{
    const int64_t dim = rows->dim;
    if (rows->solving)
        return dim + dim * (dim - 1) / 2;
    return dim * (dim - 1) + dim * (rows->omega != 1.0 ? 3 : 2);
}

typedef struct panel_writer {
    gbs_type type;
    void *panels;
    int64_t next;
    const void *scratch; /* the group's rows */
    int64_t dim;
} panel_writer;

static void put(panel_writer *writer, double value)
{
    store(writer->type, writer->panels, writer->next++, value);
}

/* The group's coefficients of the sites at places first .. end - 1, place by place; within the
 * group only those of rows after the place. */
static void put_columns(panel_writer *writer, const int64_t *site, int64_t first, int64_t end,
                        int64_t group_start, int64_t rows)
{
    for (int64_t k = first; k < end; ++k) {
        const int64_t after = k < group_start || k >= group_start + rows ? 0 : k - group_start + 1;
        if (writer->type == GBS_F32) {
            const float *const column = (const float *)writer->scratch + site[k];
            for (int64_t r = after; r < rows; ++r)
                ((float *)writer->panels)[writer->next++] = column[r * writer->dim];
        } else {
            const double *const column = (const double *)writer->scratch + site[k];
            for (int64_t r = after; r < rows; ++r)
                ((double *)writer->panels)[writer->next++] = column[r * writer->dim];
        }
    }
}

static const void *scratch_row(const panel_writer *writer, int64_t r)
{
    return (const char *)writer->scratch + (size_t)(r * writer->dim) * gbs_type_size(writer->type);
}

/* Starts of the group's rows, and a sweep's coefficients of old values at its own places. */
static void put_heads(const gbs_rows *of, const int64_t *site, int64_t p, int64_t rows,
                      panel_writer *writer)
{
    for (int64_t r = 0; r < rows; ++r) {
        const int64_t i = site[p + r];
        const void *const row = scratch_row(writer, r);
        if (!of->solving) {
            put(writer, gbs_rows_scale(of, i));
            put(writer, gbs_rows_centre(of, i, row));
        }
        if (of->solving || of->omega != 1.0)
            put(writer, at(of->type, row, i));
    }
    for (int64_t r = 0; r < rows && !of->solving; ++r)
        for (int64_t k = r + 1; k < rows; ++k)
            put(writer, at(of->type, scratch_row(writer, r), site[p + k]));
}

static void pack_group(const gbs_rows *of, const int64_t *site, int64_t p, int64_t rows,
                       panel_writer *writer)
{
    put_heads(of, site, p, rows, writer);
    if (!of->solving)
        put_columns(writer, site, p + rows, of->dim, p, rows);
    put_columns(writer, site, 0, p + rows, p, rows);
}

void gbs_panels_pack(const gbs_rows *rows, const int64_t *site, int32_t group, void *scratch,
                     void *panels)
{
    const size_t row_bytes = (size_t)rows->dim * gbs_type_size(rows->type);
    panel_writer writer = {rows->type, panels, 0, scratch, rows->dim};
    for (int64_t p = 0; p < rows->dim; p += group) {
        const int64_t left = rows->dim - p;
        const int64_t count = left < group ? left : group;
        for (int64_t r = 0; r < count; ++r)
            gbs_rows_coefficients(rows, site[p + r], (char *)scratch + (size_t)r * row_bytes);
        pack_group(rows, site, p, count, &writer);
    }
}

/* ---- panels for few chains ---- */

/* Rows of scratch are this much longer than D, lest a column of them falls on one cache set. */
#define SCRATCH_GAP 16

int64_t gbs_few_panel_step(int64_t dim, int64_t group)
{
    return (dim + 2) * group;
}

int64_t gbs_few_panel_elements(int64_t dim, int64_t group)
{
    return (dim + group - 1) / group * gbs_few_panel_step(dim, group);
}

int64_t gbs_few_scratch_elements(int64_t dim, int64_t group)
{
    return (dim + SCRATCH_GAP) * group;
}

/* columns[k][r] = scratch[r][site[k]], SCRATCH_GAP places at a time. */
static void turn_f32(const float *restrict scratch, int64_t step, const int64_t *site, int64_t dim,
                     int64_t rows, int64_t group, float *restrict columns)
{
    for (int64_t first = 0; first < dim; first += SCRATCH_GAP)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t k = first; k < dim && k < first + SCRATCH_GAP; ++k)
                columns[k * group + r] = scratch[r * step + site[k]];
}

static void turn_f64(const double *restrict scratch, int64_t step, const int64_t *site, int64_t dim,
                     int64_t rows, int64_t group, double *restrict columns)
{
    for (int64_t first = 0; first < dim; first += SCRATCH_GAP)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t k = first; k < dim && k < first + SCRATCH_GAP; ++k)
                columns[k * group + r] = scratch[r * step + site[k]];
}

void gbs_few_panels_pack(const gbs_rows *rows, const int64_t *site, int64_t group, void *scratch,
                         void *panels)
{
    const size_t size = gbs_type_size(rows->type);
    const int64_t dim = rows->dim, step = dim + SCRATCH_GAP;
    char *panel = panels;
    for (int64_t p = 0; p < dim;
         p += group, panel += (size_t)gbs_few_panel_step(dim, group) * size) {
        const int64_t count = dim - p < group ? dim - p : group;
        void *const columns = panel + (size_t)(2 * group) * size;
        for (int64_t r = 0; r < count; ++r) {
            void *const row = (char *)scratch + (size_t)(r * step) * size;
            gbs_rows_coefficients(rows, site[p + r], row);
            store(rows->type, panel, r, gbs_rows_scale(rows, site[p + r]));
            store(rows->type, panel, group + r, gbs_rows_centre(rows, site[p + r], row));
        }
        if (rows->type == GBS_F32)
            turn_f32(scratch, step, site, dim, count, group, columns);
        else
            turn_f64(scratch, step, site, dim, count, group, columns);
    }
}

/* ---- tiles ---- */

static int64_t heads_of(int relaxed)
{
    return relaxed ? 3 : 2;
}

int64_t gbs_tile_panel(int64_t dim, int relaxed, int64_t first)
{
    return first * (heads_of(relaxed) + dim - 1);
}

int64_t gbs_tile_add(int64_t dim, int relaxed, int64_t first, int64_t count, int64_t from)
{
    const int64_t end = first + count;
    return gbs_tile_panel(dim, relaxed, first) + count * heads_of(relaxed) +
           count * (count - 1) / 2 + count * (from >= end ? from - end : dim - end + from);
}

int64_t gbs_tile_finish(int64_t dim, int relaxed, int64_t first, int64_t count)
{
    return gbs_tile_panel(dim, relaxed, first) + count * heads_of(relaxed) +
           count * (count - 1) / 2 + count * (dim - count);
}

/* A group of `rows` rows, `q` rows into the panel of places first .. end - 1, whose begin and
 * finish follow those of the groups before it. */
static void pack_tile_group(const gbs_rows *of, const int64_t *site, int64_t first, int64_t end,
                            int64_t q, int64_t rows, int64_t panel, panel_writer *writer,
                            int64_t *begin, int64_t *finish)
{
    const int64_t p = first + q;
    const int relaxed = of->omega != 1.0;
    writer->next = *begin;
    put_heads(of, site, p, rows, writer);
    put_columns(writer, site, p + rows, end, p, rows);
    *begin = writer->next;
    for (int64_t from = 0; from < of->dim; from += panel) {
        const int64_t stop = from + panel < of->dim ? from + panel : of->dim;
        if (from == first)
            continue;
        writer->next = gbs_tile_add(of->dim, relaxed, first, end - first, from) + q * (stop - from);
        put_columns(writer, site, from, stop, p, rows);
    }
    writer->next = *finish;
    put_columns(writer, site, first, p + rows, p, rows);
    *finish = writer->next;
}

void gbs_tiles_pack(const gbs_rows *rows, const int64_t *site, int64_t panel, int32_t group,
                    void *scratch, void *panels)
{
    const size_t row_bytes = (size_t)rows->dim * gbs_type_size(rows->type);
    const int relaxed = rows->omega != 1.0;
    panel_writer writer = {rows->type, panels, 0, scratch, rows->dim};
    for (int64_t first = 0; first < rows->dim; first += panel) {
        const int64_t end = first + panel < rows->dim ? first + panel : rows->dim;
        int64_t begin = gbs_tile_panel(rows->dim, relaxed, first);
        int64_t finish = gbs_tile_finish(rows->dim, relaxed, first, end - first);
        for (int64_t p = first; p < end; p += group) {
            const int64_t count = end - p < group ? end - p : group;
            for (int64_t r = 0; r < count; ++r)
                gbs_rows_coefficients(rows, site[p + r], (char *)scratch + (size_t)r * row_bytes);
            pack_tile_group(rows, site, first, end, p - first, count, panel, &writer, &begin,
                            &finish);
        }
    }
}
