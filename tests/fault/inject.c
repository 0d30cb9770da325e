/* Loaded into the program by LD_PRELOAD: lets one request for memory, or one step of writing,
 * fail, and says at exit how many there were and which blocks of the program's own were lost.
 *
 *     GBS_FAULT   own:K or all:K, the K-th request for memory (from 0) of the program itself, or of
 *                 all in its process; write:K, the K-th of write, pwrite, ftruncate, fsync, fflush,
 *                 fclose and rename; K of -1 only counts
 *     GBS_REPORT  the file that gets "COUNT BLOCKS_LOST"
 *
 * A request is the program's own if it comes from its own code and not from a library, which the
 * return address tells.  glibc's allocator is called by its second names. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

enum { KIND_NONE, KIND_OWN, KIND_ALL, KIND_WRITE };

/* The most blocks of the program's own at a time. */
enum { SLOTS = 1 << 16 };

static struct {
    int kind;
    long wanted, count;
    uintptr_t code_start, code_end;
    void *block[SLOTS]; /* [used] taken by the program and not given back, in no order */
    int used;
    pthread_mutex_t lock;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int find_code(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
            state.code_start = (uintptr_t)(info->dlpi_addr + p->p_vaddr);
            state.code_end = state.code_start + p->p_memsz;
        }
    }
    return 1; /* the program comes first */
}

__attribute__((constructor)) static void start(void)
{
    const char *what = getenv("GBS_FAULT");
    const char *number = what ? strchr(what, ':') : NULL;
    dl_iterate_phdr(find_code, NULL);
    state.wanted = number ? atol(number + 1) : -1;
    if (number)
        state.kind = *what == 'o' ? KIND_OWN : *what == 'a' ? KIND_ALL : KIND_WRITE;
}

/* At exit everything that the program took must be back. */
__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("GBS_REPORT");
    char text[64];
    state.kind = KIND_NONE;
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    const int length = snprintf(text, sizeof text, "%ld %d\n", state.count, state.used);
    if (file >= 0) {
        syscall(SYS_write, file, text, (size_t)length);
        close(file);
    }
}

/* ------------------------------------------------------------------ memory */

static int is_own(const void *caller)
{
    return (uintptr_t)caller >= state.code_start && (uintptr_t)caller < state.code_end;
}

/* Whether this event is the one that fails. */
static int fails(int counted)
{
    if (!counted)
        return 0;
    pthread_mutex_lock(&state.lock);
    const long number = state.count++;
    pthread_mutex_unlock(&state.lock);
    return number == state.wanted;
}

static int refused(const void *caller)
{
    if (!fails(state.kind == KIND_ALL || (state.kind == KIND_OWN && is_own(caller))))
        return 0;
    errno = ENOMEM;
    return 1;
}

static void *note(void *block, const void *caller)
{
    if (!block || state.kind == KIND_NONE || !is_own(caller))
        return block;
    pthread_mutex_lock(&state.lock);
    if (state.used == SLOTS)
        abort();
    state.block[state.used++] = block;
    pthread_mutex_unlock(&state.lock);
    return block;
}

/* Takes a block off the list; returns whether it was there. */
static int forget(const void *block)
{
    int found = 0;
    if (!block || state.kind == KIND_NONE)
        return 0;
    pthread_mutex_lock(&state.lock);
    for (int i = state.used; i-- > 0 && !found;) {
        found = state.block[i] == block;
        if (found)
            state.block[i] = state.block[--state.used];
    }
    pthread_mutex_unlock(&state.lock);
    return found;
}

void *malloc(size_t bytes)
{
    const void *caller = __builtin_return_address(0);
    return refused(caller) ? NULL : note(__libc_malloc(bytes), caller);
}

void *calloc(size_t count, size_t size)
{
    const void *caller = __builtin_return_address(0);
    return refused(caller) ? NULL : note(__libc_calloc(count, size), caller);
}

void free(void *block)
{
    forget(block);
    __libc_free(block);
}

void *realloc(void *block, size_t bytes)
{
    const void *caller = __builtin_return_address(0);
    if (refused(caller))
        return NULL;
    void *larger = __libc_realloc(block, bytes);
    if (!larger)
        return NULL;
    const int known = forget(block);
    return known || !block ? note(larger, caller) : larger;
}

/* ------------------------------------------------------------------ writing */

static int no_room(void)
{
    if (!fails(state.kind == KIND_WRITE))
        return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t write(int file, const void *from, size_t bytes)
{
    return no_room() ? -1 : (ssize_t)syscall(SYS_write, file, from, bytes);
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t offset)
{
    return no_room() ? -1 : (ssize_t)syscall(SYS_pwrite64, file, from, bytes, offset);
}

ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t offset)
{
    return no_room() ? -1 : (ssize_t)syscall(SYS_pwrite64, file, from, bytes, offset);
}

int ftruncate(int file, off_t bytes)
{
    return no_room() ? -1 : (int)syscall(SYS_ftruncate, file, bytes);
}

int ftruncate64(int file, off64_t bytes)
{
    return no_room() ? -1 : (int)syscall(SYS_ftruncate, file, bytes);
}

int fsync(int file)
{
    return no_room() ? -1 : (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to)
{
    return no_room() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int _IO_fflush(FILE *stream);
int _IO_fclose(FILE *stream);

/* A stream's buffer is lost with a failed flush, as on a full disk. */
int fflush(FILE *stream)
{
    return no_room() ? EOF : _IO_fflush(stream);
}

int fclose(FILE *stream)
{
    const int failed = no_room(), closed = _IO_fclose(stream);
    if (failed)
        errno = ENOSPC;
    return failed ? EOF : closed;
}
