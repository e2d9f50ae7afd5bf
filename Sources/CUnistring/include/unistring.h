#pragma once
#include <stddef.h>
#include <stdint.h>

// Normalization form KC of UTF-8 (UAX #15), by libunistring, which is there wherever libcurl is. To be freed; null where the
// library is not there, or memory is out.
uint8_t *_Nullable unistring_nfkc(const uint8_t *_Nonnull text, size_t count, size_t *_Nonnull result_count);
