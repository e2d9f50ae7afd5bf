#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An AV1 encoder by libaom for live frames of 8-bit I420, each with a quantizer of its own. One thread at a time.

// Null if libaom is loaded and can be used, otherwise the reason why it can't.
const char *_Nullable av1_encoder_library_problem(void);
// Null if libaom is not installed.
const char *_Nullable av1_encoder_library_version(void);

typedef struct av1_encoder av1_encoder;

typedef struct {
    uint32_t width, height;
    uint32_t threads;
    // Whether to search for palettes and repeated content, as screens have them.
    bool is_screen;
} av1_encoder_settings;

typedef struct {
    const uint8_t *_Nonnull luma, *_Nonnull blue, *_Nonnull red;
    int32_t luma_stride, blue_stride, red_stride;
} av1_encoder_source;

typedef struct {
    // A temporal unit (AV1 §7.5), until the next call. Null if the encoder dropped the frame.
    const uint8_t *_Nullable bytes;
    size_t count;
    bool is_key;
    // The base_q_idx of the frame, 0 to 255.
    int32_t quantizer_index;
    // The image that decoders show, until the next call.
    av1_encoder_source shown;
} av1_encoder_frame;

// The library must be loaded. Returns null on failure, with the reason in `problem`.
av1_encoder *_Nullable av1_encoder_open(
    const av1_encoder_settings *_Nonnull settings, char *_Nonnull problem, size_t size);
void av1_encoder_close(av1_encoder *_Nonnull encoder);

// Encodes a frame with a quantizer of 1 to 63. Returns null, or the reason why that failed; an encoder that failed can
// only be closed.
//
// With `refines`, blocks that differ little from the last frame are coded, too, in more time.
// With `keeps_last`, the last frame remains a reference frame beside this one until the next such call or key frame.
// With `is_natural`, no palettes are searched for: that takes time, and natural content has none.
// The quantizer is raised where libaom would end the process: see `usable_quantizer`.
const char *_Nullable av1_encoder_encode(
    av1_encoder *_Nonnull encoder, const av1_encoder_source *_Nonnull source, uint32_t quantizer, bool as_key,
    bool keeps_last, bool refines, bool is_natural, av1_encoder_frame *_Nonnull frame);

typedef struct {
    // The slot of the last frame.
    uint32_t slot;
    // The slot of a frame that replaces it.
    uint32_t target;
    // The slots that such a frame must refresh, one bit for each; none if there can't be one that keeps the last frame.
    uint8_t slots;
} av1_encoder_reference;

// Returns the slots for a frame that is not libaom's, with the meaning of `keeps_last` in `av1_encoder_encode`.
av1_encoder_reference av1_encoder_last_reference(const av1_encoder *_Nonnull encoder, bool keeps_last);

// Declares that a frame in slot `target` replaced the last one. Before the next frame of libaom, unless that is a key
// frame, `av1_encoder_replace_reference` must follow.
void av1_encoder_did_replace(av1_encoder *_Nonnull encoder, uint32_t target);

// Replaces the image of the last frame. The planes must have memory for whole units of 8 by 8 pixels. Returns null, or the
// reason why that failed; an encoder that failed can only be closed.
const char *_Nullable av1_encoder_replace_reference(
    av1_encoder *_Nonnull encoder, const av1_encoder_source *_Nonnull source);
