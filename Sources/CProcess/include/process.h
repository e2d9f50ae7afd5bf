#pragma once
#include <stdint.h>

/// Has this process leave no core dump, and no other of the same user look into its memory (prctl(2), PR_SET_DUMPABLE); 0
/// where that was possible.
int process_forbid_dumps(void);
/// The opposite.
int process_allow_dumps(void);

/// Gives memory that was freed back to the system.
void memory_trim(void);
/// Bytes that were allocated and not freed.
uint64_t memory_allocated(void);
