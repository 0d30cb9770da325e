/* Names of sites, which CSV files bring: those of the matrix come first, and every other file's
 * must be the same in the same order, for a number under another name is in the wrong place. */
#include "load.h"

#include <stdlib.h>
#include <string.h>

void model_facts_free(model_facts *facts)
{
    for (int64_t i = 0; facts->names && i < facts->dim; i++)
        free(facts->names[i]);
    free(facts->names);
    *facts = (model_facts){0};
}

/* A name that is a word and a count: V1, x.2, theta[3]. */
static bool split_count(const char *name, size_t *before, size_t *digits)
{
    static const char figures[] = "0123456789";
    size_t end = strlen(name);
    while (end > 0 && !strchr(figures, name[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && strchr(figures, name[start - 1]))
        start--;
    *before = start;
    *digits = end - start;
    return *digits > 0 && *digits < 16;
}

/* The first of n different names that count the sites from 0 or from 1, but in another order than
 * theirs; n where they are in order, or do not count. */
static int64_t first_out_of_order(char *const *name, int64_t n)
{
    size_t before, digits, b, d;
    int64_t least = INT64_MAX, most = -1, first = n;
    if (!split_count(name[0], &before, &digits))
        return n;
    for (int64_t i = 0; i < n; i++) {
        if (!split_count(name[i], &b, &d) || b != before ||
            strncmp(name[i], name[0], before) != 0 ||
            strcmp(name[i] + b + d, name[0] + before + digits) != 0)
            return n;
        const int64_t number = strtoll(name[i] + b, NULL, 10);
        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    if (least > 1 || most - least != n - 1)
        return n;
    for (int64_t i = n - 1; i >= 0; i--)
        if (strtoll(name[i] + before, NULL, 10) != least + i)
            first = i;
    return first;
}

void take_names(model_facts *facts, const char *path, gbs_array *array)
{
    if (!array->name)
        return;
    facts->names = array->name;
    facts->names_path = path;
    array->name = NULL;
}

/* Names that the matrix has not become those of the draws, unless they contradict its order. */
static exit_code adopt_names(model_facts *facts, const char *path, gbs_array *array)
{
    const int64_t odd = first_out_of_order(array->name, facts->dim);
    if (odd < facts->dim)
        return complain(
            EXIT_BAD_INPUT,
            "%s: number %lld is named \"%.40s\", but the matrix names no sites, so they "
            "are counted in its order",
            path, (long long)odd + 1, array->name[odd]);
    take_names(facts, path, array);
    return EXIT_FINE;
}

exit_code match_names(model_facts *facts, const char *path, gbs_array *array)
{
    if (array->name && !facts->names)
        return adopt_names(facts, path, array);
    for (int64_t i = 0; array->name && i < facts->dim; i++)
        if (strcmp(array->name[i], facts->names[i]) != 0)
            return complain(EXIT_BAD_INPUT,
                            "%s: number %lld is named \"%.40s\", but \"%.40s\" in %s", path,
                            (long long)i + 1, array->name[i], facts->names[i], facts->names_path);
    return EXIT_FINE;
}
