#pragma once
#include <stddef.h>
#include <stdint.h>

// Normalization form KC of UTF-8 (UAX #15), by libunistring, which is installed with libcurl. The caller frees the
// result; null if the library is missing or memory is exhausted.
uint8_t *_Nullable unistring_nfkc(const uint8_t *_Nonnull text, size_t count, size_t *_Nonnull result_count);
