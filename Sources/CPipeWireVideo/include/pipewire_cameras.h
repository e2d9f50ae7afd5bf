#pragma once
#include "pipewire_video.h"

// The cameras that a PipeWire has, what each can give, and their lights; followed as they come and go. One thread at a time.

#define PIPEWIRE_MOST_RATES 16

typedef enum {
    pipewire_camera_yuy2,
    pipewire_camera_nv12,
    pipewire_camera_i420,
    pipewire_camera_mjpeg,
    // Four bytes a pixel, and three, in the order of memory.
    pipewire_camera_bgrx,
    pipewire_camera_rgbx,
    pipewire_camera_bgr,
    pipewire_camera_rgb,
} pipewire_camera_pixels;

// Pictures a second, as a fraction.
typedef struct {
    uint32_t numerator, denominator;
} pipewire_rate;

typedef struct {
    pipewire_camera_pixels pixels;
    uint32_t width, height;
    // None where the camera doesn't say.
    pipewire_rate rates[PIPEWIRE_MOST_RATES];
    uint32_t rate_count;
} pipewire_camera_format;

typedef struct {
    uint32_t node;
    // PipeWire's name for it, which stays, and one for people.
    char name[256], description[256];
    const pipewire_camera_format *formats;
    uint32_t format_count;
    // Whether it has a light that can be switched.
    bool has_light;
} pipewire_camera;

typedef struct pipewire_cameras pipewire_cameras;

// Connects by the socket `descriptor`, which is closed with it at last, also where this fails; or to the session's own
// daemon, where that is -1. Null where it can't, with the reason in `problem`.
pipewire_cameras *pipewire_cameras_open(int descriptor, char *problem, size_t size);
void pipewire_cameras_close(pipewire_cameras *cameras);

// Can be read when something has come for `pipewire_cameras_update`.
int pipewire_cameras_descriptor(const pipewire_cameras *cameras);
// Takes in what has come; false where PipeWire is gone, and `pipewire_cameras_problem` says why.
bool pipewire_cameras_update(pipewire_cameras *cameras);
const char *pipewire_cameras_problem(const pipewire_cameras *cameras);

// Whether all that was asked is answered: then these are the cameras that there are.
bool pipewire_cameras_are_complete(const pipewire_cameras *cameras);
uint32_t pipewire_cameras_count(const pipewire_cameras *cameras);
const pipewire_camera *pipewire_cameras_get(const pipewire_cameras *cameras, uint32_t index);

// Has a camera's light switched: done once the answers are complete, without a problem of
// `pipewire_cameras_light_problem`. False where there is no such camera, or it has none.
bool pipewire_cameras_set_light(pipewire_cameras *cameras, uint32_t node, bool is_on);
const char *pipewire_cameras_light_problem(const pipewire_cameras *cameras);

// Connects to a camera, for the first of these formats, or, where it is used by another program already, for the one that it
// has. Pictures have `bytes`; otherwise as `pipewire_video_connect`.
pipewire_video *pipewire_camera_connect(
    int descriptor, uint32_t node, const pipewire_camera_format *formats, uint32_t count, char *problem, size_t size);
// What it gives, with the lock held, while `pipewire_video_get_format` has a generation.
pipewire_camera_format pipewire_camera_get_format(const pipewire_video *video);
