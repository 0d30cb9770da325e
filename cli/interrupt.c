/* Signal handling: the program's one piece of global state. */
#define _POSIX_C_SOURCE 200809L
#include "interrupt.h"

#include "cli.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t held, noted;
static struct timespec noted_at;

/* Half a second: `timeout` and the like signal a process and then its group, so that one
 * interruption comes twice; somebody who presses Ctrl-C again takes longer. */
static bool same_interruption(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return false;
    const int64_t milliseconds =
        1000 * (int64_t)(now.tv_sec - noted_at.tv_sec) + (now.tv_nsec - noted_at.tv_nsec) / 1000000;
    return milliseconds < 500;
}

/* The first signal is noted while something must be tidied up; a second one means it. */
static void on_signal(int number)
{
    static const char message[] = "gibbsite: interrupted\n";
    (void)number;
    if (held && !noted) {
        noted = clock_gettime(CLOCK_MONOTONIC, &noted_at) == 0 ? 1 : 2;
        return;
    }
    if (held && noted == 1 && same_interruption())
        return;
    /* Nothing is left to try if this write fails. */
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        _exit(EXIT_INTERRUPTED);
    _exit(EXIT_INTERRUPTED);
}

void interrupt_install(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    /* A file at its size limit is then a write that fails, as on a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    for (int k = 0; k < 2; k++) {
        struct sigaction action;
        /* Who started us with a signal ignored, as a shell does in the background, means it. */
        if (sigaction(numbers[k], NULL, &action) || action.sa_handler == SIG_IGN)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        sigaction(numbers[k], &action, NULL);
    }
}

void interrupt_hold(void)
{
    held = 1;
}

void interrupt_release(void)
{
    held = 0;
}

bool interrupted(void)
{
    return noted != 0;
}
