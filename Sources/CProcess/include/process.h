#pragma once
#include <stdint.h>

/// Forbids core dumps of this process, and access of the same user's other processes to its memory (prctl(2),
/// PR_SET_DUMPABLE). Returns 0 on success.
int process_forbid_dumps(void);
/// Allows both again.
int process_allow_dumps(void);

/// Limits the C library to two arenas of memory for all threads (mallopt(3), M_ARENA_MAX). A thread that already
/// has an arena keeps it.
void memory_share_arenas(void);
/// Returns freed memory to the system.
void memory_trim(void);
/// The number of bytes that are allocated and not freed.
uint64_t memory_allocated(void);
