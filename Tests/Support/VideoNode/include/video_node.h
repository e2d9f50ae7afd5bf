#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A PipeWire node that provides the frames of a test, with any metadata: a camera, or a desktop's screen. Functions can
// be called from any thread.

typedef enum {
    video_node_yuy2,
    video_node_nv12,
    video_node_i420,
    video_node_mjpeg,
    video_node_bgrx,
    video_node_bgra,
    video_node_rgbx,
    video_node_rgba,
    video_node_bgr,
    video_node_rgb,
} video_node_pixels;

typedef struct {
    video_node_pixels pixels;
    uint32_t width, height;
    // The frame rates to choose from; empty if the node names none.
    uint32_t rates[4];
    uint32_t rate_count;
    // Whether its frames are only in memory of a graphics card.
    bool needs_dmabuf;
} video_node_format;

typedef struct {
    int32_t x, y;
    uint32_t width, height;
} video_node_rectangle;

// A frame with its metadata; zeros mean no metadata.
typedef struct {
    // Null for a buffer without a frame.
    const uint8_t *bytes;
    uint32_t byte_count;
    int32_t stride;
    uint64_t sequence;
    // In nanoseconds; zero if the node has no clock.
    int64_t time;
    // Whether it is announced with the next one, as after a start for which PipeWire was not ready.
    bool is_late;
    bool is_corrupted;
    video_node_rectangle crop;
    // The transform of wl_output.
    uint32_t transform;
    const video_node_rectangle *damage;
    uint32_t damage_count;
    bool has_pointer, pointer_is_visible;
    int32_t pointer_x, pointer_y, hotspot_x, hotspot_y;
    // BGRA, premultiplied by alpha; null if the shape is unchanged.
    const uint32_t *pointer_pixels;
    uint32_t pointer_width, pointer_height;
} video_node_picture;

typedef struct video_node video_node;

// Creates a node of the PipeWire daemon that listens at `socket`. Returns null on failure.
video_node *video_node_create(
    const char *socket, const char *name, bool is_camera, bool has_light, const video_node_format *formats,
    uint32_t count);
void video_node_destroy(video_node *node);

// PipeWire's number of the node, UINT32_MAX until it is known.
uint32_t video_node_id(video_node *node);
// Whether a client receives its frames.
bool video_node_is_streaming(video_node *node);
// The negotiated format, and whether there is one.
bool video_node_get_format(video_node *node, video_node_format *format);
// Whether buffers are in memory that can be mapped.
bool video_node_can_map(video_node *node);
// The state that its light was set to; -1 if it was not set.
int32_t video_node_light(video_node *node);

// Provides a frame. Returns false if no client accepts one now.
bool video_node_give(video_node *node, const video_node_picture *picture);
// Offers other formats from now on.
void video_node_offer(video_node *node, const video_node_format *formats, uint32_t count);
// Pauses or resumes its frames.
void video_node_set_active(video_node *node, bool is_active);
