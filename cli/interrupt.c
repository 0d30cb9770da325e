/* Signal handling: the program's one piece of global state. */
#define _POSIX_C_SOURCE 200809L
#include "interrupt.h"

#include "cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t held, noted;

static void on_signal(int number)
{
    static const char message[] = "gibbsite: interrupted\n";
    (void)number;
    if (held && !noted) {
        noted = 1;
        return;
    }
    /* Nothing is left to try if this write fails. */
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        _exit(EXIT_INTERRUPTED);
    _exit(EXIT_INTERRUPTED);
}

void interrupt_install(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
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
