#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An AV1 decoder by dav1d, which returns each frame at once. One thread at a time.

// Null if dav1d is loaded and can be used, otherwise the reason why it can't.
const char *_Nullable av1_decoder_library_problem(void);
// Null if dav1d is not installed.
const char *_Nullable av1_decoder_library_version(void);

typedef struct av1_decoder av1_decoder;

// The last frame that is shown, until the next call.
typedef struct {
    // Null if no frame is shown.
    const uint8_t *_Nullable luma, *_Nullable blue, *_Nullable red;
    ptrdiff_t luma_stride, chroma_stride;
    int32_t width, height;
    // Whether it is 8-bit I420.
    bool is_i420;
    // Its base_q_idx, 0 to 255.
    int32_t quantizer_index;
} av1_decoder_picture;

// The library must be loaded. Frames of more pixels are errors. Returns null if memory is exhausted.
av1_decoder *_Nullable av1_decoder_open(uint32_t most_pixels);
void av1_decoder_close(av1_decoder *_Nonnull decoder);
// Decodes a temporal unit, of which it keeps no address. Returns 0 or, on failure, a negative code of errno.h; the
// decoder then needs a sequence header and a key frame.
int av1_decoder_decode(
    av1_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count, av1_decoder_picture *_Nonnull picture);
