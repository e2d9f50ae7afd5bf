#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int process_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
int process_allow_dumps(void) { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

int process_run(const char *program, const char *argument) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&files) != 0) return 127;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return 127;
    }
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
    for (int stream = 0; stream <= 2 && error == 0; stream++)
        error = posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&files, 3);
    pid_t process = 0;
    char *const arguments[] = {(char *)program, (char *)argument, NULL};
    if (error == 0) error = posix_spawnp(&process, program, &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) return 127;
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void memory_share_arenas(void) { mallopt(M_ARENA_MAX, 2); }
void memory_trim(void) { malloc_trim(0); }

uint64_t memory_allocated(void) {
    struct mallinfo2 information = mallinfo2();
    return information.uordblks + information.hblkhd;
}
