#include "process.h"

#include <malloc.h>
#include <sys/prctl.h>

int process_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
int process_allow_dumps(void) { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

void memory_share_arenas(void) { mallopt(M_ARENA_MAX, 2); }
void memory_trim(void) { malloc_trim(0); }

uint64_t memory_allocated(void) {
    struct mallinfo2 information = mallinfo2();
    return information.uordblks + information.hblkhd;
}
