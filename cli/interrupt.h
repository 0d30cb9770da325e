/* SIGINT and SIGTERM.  While nothing needs tidying up they end the program at once, with
 * EXIT_INTERRUPTED; between interrupt_hold and interrupt_release they are only noted, so that
 * the verb can remove what it has begun.  A second signal always ends the program. */
#ifndef GIBBSITE_CLI_INTERRUPT_H
#define GIBBSITE_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_install(void);
void interrupt_hold(void);
void interrupt_release(void);
bool interrupted(void);

#endif
