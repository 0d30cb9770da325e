/* The words that go with a count in a message: "1 site has", "2 sites have".  One place for the
 * library, the readers and the program. */
#ifndef GBS_CORE_PLURAL_H
#define GBS_CORE_PLURAL_H

#include <stdint.h>

static inline const char *gbs_plural(int64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

#endif
