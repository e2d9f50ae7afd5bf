#pragma once
#include <stdint.h>

/// Allocations of this process since it began. Linking this module replaces the C library's allocation functions by
/// ones that count and pass the call on.
uint64_t allocation_count(void);
