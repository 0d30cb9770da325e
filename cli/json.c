/* The few JSON values that jansson has no word for. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool short_of_memory;

static void *take_for_json(size_t bytes)
{
    void *memory = malloc(bytes);
    short_of_memory = short_of_memory || !memory;
    return memory;
}

void json_start(void)
{
    json_set_alloc_funcs(take_for_json, free);
}

json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char *plain = take((int64_t)strlen(text) + 1, 1, "text");
    if (!plain)
        return NULL;
    for (size_t k = 0; text[k]; k++)
        plain[k] = (unsigned char)text[k] < 128 ? text[k] : '?';
    value = json_string(plain);
    free(plain);
    return value;
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_hex(const unsigned char *bytes, size_t n)
{
    char *text = take((int64_t)(2 * n + 1), 1, "generator state");
    if (!text)
        return NULL;
    for (size_t k = 0; k < n; k++)
        snprintf(text + 2 * k, 3, "%02x", bytes[k]);
    json_t *value = json_string(text);
    free(text);
    return value;
}

json_t *json_unsigned(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return json_string(text);
}

exit_code json_print(json_t *object, exit_code code)
{
    /* A failed write shows in the stream's error flag too, which finish_stdout looks at. */
    if (object && !short_of_memory)
        (void)json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    if (!object || short_of_memory)
        return complain(EXIT_FILE, "--json: no memory for the result");
    putchar('\n');
    return finish_stdout(code);
}
