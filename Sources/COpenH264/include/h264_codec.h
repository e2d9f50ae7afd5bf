#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An H.264 encoder and a decoder by OpenH264, for I420. One thread at a time each.

// Null if OpenH264 is loaded and can be used, otherwise the reason why it can't.
const char *_Nullable h264_library_problem(void);
// Null if OpenH264 is not installed.
const char *_Nullable h264_library_version(void);

typedef struct h264_encoder h264_encoder;

typedef struct {
    // Even sides.
    uint32_t width, height;
    // Whether to search for moved content, as screens have it.
    bool is_screen;
} h264_encoder_settings;

typedef struct {
    const uint8_t *_Nonnull luma, *_Nonnull blue, *_Nonnull red;
    int32_t luma_stride, blue_stride, red_stride;
} h264_encoder_source;

typedef struct {
    // NAL units with start codes (H.264 Annex B), until the next call. Null if the encoder dropped the frame.
    const uint8_t *_Nullable bytes;
    size_t count;
    // Whether it is an IDR frame.
    bool is_key;
} h264_encoder_frame;

// The library must be loaded. Returns null on failure, with the reason in `problem`.
h264_encoder *_Nullable h264_encoder_open(
    const h264_encoder_settings *_Nonnull settings, char *_Nonnull problem, size_t size);
void h264_encoder_close(h264_encoder *_Nonnull encoder);
// Encodes a frame with a quantizer of 0 to 51. Returns null, or the reason why that failed; an encoder that failed can
// only be closed.
const char *_Nullable h264_encoder_encode(
    h264_encoder *_Nonnull encoder, const h264_encoder_source *_Nonnull source, uint32_t quantizer, bool as_key,
    h264_encoder_frame *_Nonnull frame);

typedef struct h264_decoder h264_decoder;

// The last frame that is shown, until the next call.
typedef struct {
    // Null if no frame is shown.
    const uint8_t *_Nullable luma, *_Nullable blue, *_Nullable red;
    int32_t luma_stride, chroma_stride;
    int32_t width, height;
} h264_decoder_picture;

// The library must be loaded. Returns null on failure.
h264_decoder *_Nullable h264_decoder_open(void);
void h264_decoder_close(h264_decoder *_Nonnull decoder);
// Decodes the NAL units of one frame. Returns 0, or the bits of OpenH264's DECODING_STATE.
int h264_decoder_decode(
    h264_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, int32_t count,
    h264_decoder_picture *_Nonnull picture);
