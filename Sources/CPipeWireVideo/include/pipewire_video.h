#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The pictures of one node of PipeWire, a desktop or a camera: a connection, a stream of it, and a thread that both run on.
//
// The thread changes what is asked here, and takes the memory of pictures away, with the lock held: whoever calls any function
// below it, or looks at a picture's pixels, holds it. Pictures are taken one after the other, in their order, and each is given
// back: until then the node doesn't write its memory again.

typedef struct pipewire_video pipewire_video;

typedef struct {
    int32_t x, y;
    uint32_t width, height;
} pipewire_rectangle;

typedef enum {
    pipewire_video_connecting,
    pipewire_video_paused,
    pipewire_video_streaming,
    // For good; `pipewire_video_problem` says why.
    pipewire_video_ended,
} pipewire_video_state;

// Four bytes a pixel, in the order of memory; the fourth means nothing.
typedef enum {
    pipewire_pixels_bgrx,
    pipewire_pixels_rgbx,
} pipewire_pixels;

typedef struct {
    // Counts the formats of the stream: zero while it has none.
    unsigned generation;
    pipewire_pixels pixels;
    uint32_t width, height;
} pipewire_video_format;

// A picture, and what its node says of it.
typedef struct {
    // For `pipewire_video_give_back`.
    void *buffer;
    unsigned removals;
    // Found in its memory: see `pipewire_video_look_for_missed`.
    bool is_missed;
    // Of a camera, in its format: what the buffer has of its picture. Null where that is nothing.
    const uint8_t *bytes;
    uint32_t byte_count;
    // Of a desktop: null where the buffer has none that is worth a look, and comes for its pointer alone.
    const uint8_t *pixels;
    // Bytes from row to row; zero where a camera doesn't say.
    uint32_t stride;
    // The rows that are there whole.
    uint32_t rows;
    // Counts the node's pictures, where `has_sequence`; some nodes leave it at zero.
    bool has_sequence;
    uint64_t sequence;
    bool has_crop;
    pipewire_rectangle crop;
    // wl_output's, which the content has undergone: quarter turns counterclockwise, and 4 for mirrored before.
    uint32_t transform;
    // Whether the node says what changed; see `pipewire_picture_damage`.
    bool has_damage;
    // Whether it says where the pointer is, and, where `pointer_pixels`, how it looks.
    bool has_pointer, pointer_is_visible;
    int32_t pointer_x, pointer_y;
    bool has_pointer_shape;
    int32_t hotspot_x, hotspot_y;
    // Null for a shape that can't be seen. The colours are multiplied by alpha.
    const uint8_t *pointer_pixels;
    pipewire_pixels pointer_format;
    uint32_t pointer_width, pointer_height, pointer_stride;
} pipewire_picture;

// Connects to a node by the socket `descriptor`, which is closed with it at last, also where this fails; or to the
// session's own daemon, where that is -1. Null where it can't, with the reason in `problem`.
pipewire_video *pipewire_video_connect(int descriptor, uint32_t node, uint32_t frames_per_second, char *problem, size_t size);
void pipewire_video_close(pipewire_video *video);

// Can be read when something has happened, until `pipewire_video_take_note`.
int pipewire_video_descriptor(const pipewire_video *video);
void pipewire_video_take_note(pipewire_video *video);

void pipewire_video_lock(pipewire_video *video);
void pipewire_video_unlock(pipewire_video *video);

// With the lock held.

pipewire_video_state pipewire_video_get_state(const pipewire_video *video);
const char *pipewire_video_problem(const pipewire_video *video);
pipewire_video_format pipewire_video_get_format(const pipewire_video *video);

// The next picture; false where there is none.
bool pipewire_video_take(pipewire_video *video, pipewire_picture *picture);
// Has pictures found that the node has given and that PipeWire has not told of, until the node's memory is another. PipeWire
// starts the node of a picture before it listens for it itself: a first picture that comes in between wakes nobody, and each
// one after it is told of when the next one comes. It lies in memory that we can read meanwhile, with the time in its header.
// To be called where no first picture has come for longer than a node takes to write one.
void pipewire_video_look_for_missed(pipewire_video *video);
// Whether its memory is there still: with another format, or at the end, it goes.
bool pipewire_video_has(const pipewire_video *video, const pipewire_picture *picture);
void pipewire_video_give_back(pipewire_video *video, const pipewire_picture *picture);
// What changed, in pixels of the buffer, asked of a picture that was just taken: how many rectangles there are, of which `capacity` at most are written.
uint32_t pipewire_picture_damage(const pipewire_picture *picture, pipewire_rectangle *rectangles, uint32_t capacity);

// Null where it is not there.
const char *pipewire_video_library_version(void);
