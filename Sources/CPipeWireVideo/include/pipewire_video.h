#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The frames of one PipeWire node, a desktop or a camera: a connection, a stream of it, and a thread that runs both.
//
// The thread changes the state that these functions return, and removes the memory of frames, with the lock held:
// callers of the functions below the lock's, and readers of a frame's pixels, must hold it. Frames are taken one after
// the other, in order, and each is given back: until then the node doesn't write to its memory.

typedef struct pipewire_video pipewire_video;

typedef struct {
    int32_t x, y;
    uint32_t width, height;
} pipewire_rectangle;

typedef enum {
    pipewire_video_connecting,
    pipewire_video_paused,
    pipewire_video_streaming,
    // Permanently; `pipewire_video_problem` has the reason.
    pipewire_video_ended,
} pipewire_video_state;

// Four bytes per pixel, in memory order; the fourth is ignored.
typedef enum {
    pipewire_pixels_bgrx,
    pipewire_pixels_rgbx,
} pipewire_pixels;

typedef struct {
    // Counts the formats of the stream; zero while it has none.
    unsigned generation;
    pipewire_pixels pixels;
    uint32_t width, height;
} pipewire_video_format;

// A frame, with its node's metadata.
typedef struct {
    // For `pipewire_video_give_back`.
    void *buffer;
    unsigned removals;
    // Whether it was found in memory: see `pipewire_video_look_for_missed`.
    bool is_missed;
    // Of a camera: the encoded or raw frame in the camera's format. Null if the buffer has none.
    const uint8_t *bytes;
    uint32_t byte_count;
    // Of a desktop: null if the buffer has no valid frame, and only carries the pointer.
    const uint8_t *pixels;
    // Bytes from row to row; zero if a camera doesn't report it.
    uint32_t stride;
    // The number of complete rows.
    uint32_t rows;
    // Counts the node's buffers, if `has_sequence`; some nodes leave it at zero, and a corrupted buffer has none.
    bool has_sequence;
    uint64_t sequence;
    bool has_crop;
    pipewire_rectangle crop;
    // The transform of wl_output that was applied to the content: quarter turns counterclockwise, plus 4 if it was
    // mirrored first.
    uint32_t transform;
    // Whether the node reports what changed; see `pipewire_picture_damage`.
    bool has_damage;
    // Whether the node reports the pointer's position and, in `pointer_pixels`, its shape.
    bool has_pointer, pointer_is_visible;
    int32_t pointer_x, pointer_y;
    bool has_pointer_shape;
    int32_t hotspot_x, hotspot_y;
    // Null for an invisible shape. The colors are premultiplied by alpha.
    const uint8_t *pointer_pixels;
    pipewire_pixels pointer_format;
    uint32_t pointer_width, pointer_height, pointer_stride;
} pipewire_picture;

// Connects to a node through the socket `descriptor`, or to the session's daemon if that is -1. The socket is closed
// with the connection, also on failure. Returns null on failure, with the reason in `problem`.
pipewire_video *pipewire_video_connect(int descriptor, uint32_t node, uint32_t frames_per_second, char *problem, size_t size);
void pipewire_video_close(pipewire_video *video);

// A descriptor that is readable after a change, until `pipewire_video_take_note`.
int pipewire_video_descriptor(const pipewire_video *video);
void pipewire_video_take_note(pipewire_video *video);

void pipewire_video_lock(pipewire_video *video);
void pipewire_video_unlock(pipewire_video *video);

// With the lock held.

pipewire_video_state pipewire_video_get_state(const pipewire_video *video);
const char *pipewire_video_problem(const pipewire_video *video);
pipewire_video_format pipewire_video_get_format(const pipewire_video *video);

// Pauses or resumes the node, which is active at first. A paused node writes no frames, and does not report later what
// has changed meanwhile.
void pipewire_video_set_active(pipewire_video *video, bool is_active);
// Takes the next frame. Returns false if there is none.
bool pipewire_video_take(pipewire_video *video, pipewire_picture *picture);
// Searches for frames that the node has written but PipeWire has not announced, until the node's memory changes.
// PipeWire starts the node before it listens to it: a first frame in between wakes nobody, and each later one is
// announced only with its successor. Such a frame lies in memory that this process can read, with the time in its
// header. Call this if the first frame takes longer than a node needs to write one.
void pipewire_video_look_for_missed(pipewire_video *video);
// Whether the frame's memory still exists: it is removed with a change of the format, and at the end.
bool pipewire_video_has(const pipewire_video *video, const pipewire_picture *picture);
void pipewire_video_give_back(pipewire_video *video, const pipewire_picture *picture);
// The changed rectangles of a frame that was just taken, in pixels of the buffer. Returns their number, of which at
// most `capacity` are written.
uint32_t pipewire_picture_damage(const pipewire_picture *picture, pipewire_rectangle *rectangles, uint32_t capacity);

// Null if PipeWire is not installed.
const char *pipewire_video_library_version(void);
