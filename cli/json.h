/* JSON as the program writes it: jansson's trees, with NaN and infinity as null and 17 significant
 * digits.  docs/program.md lists every object's keys. */
#ifndef GIBBSITE_CLI_JSON_H
#define GIBBSITE_CLI_JSON_H

#include "cli.h"

#include <jansson.h>

/* To be called before any JSON is made: json_print then knows of every value that there was no
 * memory for, so that nobody else need look. */
void json_start(void);

json_t *json_text(const char *text);                    /* '?' for bytes that are no UTF-8 */
json_t *json_number(double value);                      /* null if not finite */
json_t *json_hex(const unsigned char *bytes, size_t n); /* "00ff..." */
json_t *json_unsigned(uint64_t value);                  /* decimal digits in a string: many readers
                                                           round numbers above 2^53 */

/* Prints the object and a newline on stdout and gives it back. */
exit_code json_print(json_t *object, exit_code code);

#endif
