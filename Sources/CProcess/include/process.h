#pragma once

// Whether this process may leave a core dump, and others of the same user may look into its memory (prctl(2),
// PR_SET_DUMPABLE).
int process_is_dumpable(void);
int process_forbid_dumps(void);
