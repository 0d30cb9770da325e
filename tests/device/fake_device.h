/* How a test makes the fake device fail; each thread has its own. */
#ifndef GBS_TEST_FAKE_DEVICE_H
#define GBS_TEST_FAKE_DEVICE_H

#include <stdint.h>

typedef struct fake_control {
    int64_t calls;  /* of the seam's functions that can fail, so far */
    int64_t refuse; /* number of the call to refuse, from 0; -1 for none */
} fake_control;

/* Exported by the fake as "fake_device_control". */
fake_control *fake_device_control(void);
typedef fake_control *(*fake_control_function)(void);

#endif
