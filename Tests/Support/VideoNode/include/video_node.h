#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A node of PipeWire that gives the pictures that it is told to, with whatever is to be said of them: a camera, or what a
// desktop gives of a screen. Functions can be called from any thread.

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
    // Pictures a second, which can be chosen from; none where nothing is said.
    uint32_t rates[4];
    uint32_t rate_count;
    // Only in memory of a graphics card.
    bool needs_dmabuf;
} video_node_format;

typedef struct {
    int32_t x, y;
    uint32_t width, height;
} video_node_rectangle;

// A picture, and what is said of it; zeros say nothing.
typedef struct {
    // None for a buffer without a picture.
    const uint8_t *bytes;
    uint32_t byte_count;
    int32_t stride;
    uint64_t sequence;
    // In nanoseconds; zero where the node has no clock.
    int64_t time;
    // Whether it is told of with the next one, as after a start that PipeWire was not ready for.
    bool is_late;
    bool is_corrupted;
    video_node_rectangle crop;
    // wl_output's.
    uint32_t transform;
    const video_node_rectangle *damage;
    uint32_t damage_count;
    bool has_pointer, pointer_is_visible;
    int32_t pointer_x, pointer_y, hotspot_x, hotspot_y;
    // BGRA, multiplied by alpha; none where its shape is the one of before.
    const uint32_t *pointer_pixels;
    uint32_t pointer_width, pointer_height;
} video_node_picture;

typedef struct video_node video_node;

// Makes a node of the PipeWire that listens at `socket`. Null where it can't.
video_node *video_node_create(
    const char *socket, const char *name, bool is_camera, bool has_light, const video_node_format *formats,
    uint32_t count);
void video_node_destroy(video_node *node);

// What PipeWire calls it: known from when it is there, UINT32_MAX before.
uint32_t video_node_id(video_node *node);
// Whether somebody takes its pictures.
bool video_node_is_streaming(video_node *node);
// What was agreed on, and whether anything was.
bool video_node_get_format(video_node *node, video_node_format *format);
// Whether buffers lie in memory that can be mapped.
bool video_node_can_map(video_node *node);
// What its light was set to; -1 where nobody has set it.
int32_t video_node_light(video_node *node);

// Gives a picture; false where nobody takes one now.
bool video_node_give(video_node *node, const video_node_picture *picture);
// Gives others from now on.
void video_node_offer(video_node *node, const video_node_format *formats, uint32_t count);
// Holds its pictures back, or gives some again.
void video_node_set_active(video_node *node, bool is_active);
