#pragma once
#include "pipewire_video.h"

// The cameras of a PipeWire daemon, their formats and their lights, kept current as cameras appear and disappear. One
// thread at a time.

#define PIPEWIRE_MOST_RATES 16

typedef enum {
    pipewire_camera_yuy2,
    pipewire_camera_nv12,
    pipewire_camera_i420,
    pipewire_camera_mjpeg,
    // Four bytes per pixel, then three, in memory order.
    pipewire_camera_bgrx,
    pipewire_camera_rgbx,
    pipewire_camera_bgr,
    pipewire_camera_rgb,
} pipewire_camera_pixels;

// Frames per second, as a fraction.
typedef struct {
    uint32_t numerator, denominator;
} pipewire_rate;

typedef struct {
    pipewire_camera_pixels pixels;
    uint32_t width, height;
    // Empty if the camera doesn't name any.
    pipewire_rate rates[PIPEWIRE_MOST_RATES];
    uint32_t rate_count;
} pipewire_camera_format;

typedef struct {
    uint32_t node;
    // PipeWire's permanent name of the camera, and a readable one.
    char name[256], description[256];
    const pipewire_camera_format *formats;
    uint32_t format_count;
    // Whether it has a light that can be switched.
    bool has_light;
} pipewire_camera;

typedef struct pipewire_cameras pipewire_cameras;

// Connects through the socket `descriptor`, or to the session's daemon if that is -1. The socket is closed with the
// connection, also on failure. Returns null on failure, with the reason in `problem`.
pipewire_cameras *pipewire_cameras_open(int descriptor, char *problem, size_t size);
void pipewire_cameras_close(pipewire_cameras *cameras);

// A descriptor that is readable when there is work for `pipewire_cameras_update`.
int pipewire_cameras_descriptor(const pipewire_cameras *cameras);
// Processes the daemon's messages. Returns false if the connection is lost; `pipewire_cameras_problem` has the reason.
bool pipewire_cameras_update(pipewire_cameras *cameras);
const char *pipewire_cameras_problem(const pipewire_cameras *cameras);

// Whether all requests have been answered, so that the list of cameras is complete.
bool pipewire_cameras_are_complete(const pipewire_cameras *cameras);
uint32_t pipewire_cameras_count(const pipewire_cameras *cameras);
const pipewire_camera *pipewire_cameras_get(const pipewire_cameras *cameras, uint32_t index);

// Requests a switch of a camera's light. It has succeeded if the answers are complete and
// `pipewire_cameras_light_problem` is null. Returns false if the camera does not exist or has no light.
bool pipewire_cameras_set_light(pipewire_cameras *cameras, uint32_t node, bool is_on);
const char *pipewire_cameras_light_problem(const pipewire_cameras *cameras);

// Connects to a camera with the first of these formats or, if another program uses the camera already, with its current
// one. Frames have `bytes`; otherwise like `pipewire_video_connect`.
pipewire_video *pipewire_camera_connect(
    int descriptor, uint32_t node, const pipewire_camera_format *formats, uint32_t count, char *problem, size_t size);
// The camera's format. Needs the lock, and is valid while `pipewire_video_get_format` has a generation.
pipewire_camera_format pipewire_camera_get_format(const pipewire_video *video);
