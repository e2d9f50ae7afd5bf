#pragma once
#include "pipewire_video.h"

// The cameras that PipeWire has, and what each can give.

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

typedef struct {
    pipewire_camera_pixels pixels;
    uint32_t width, height;
    // The most that it gives.
    double frames_per_second;
} pipewire_camera_format;

typedef struct {
    uint32_t node;
    // PipeWire's name for it, which stays, and one for people.
    char name[256], description[256];
    const pipewire_camera_format *formats;
    uint32_t format_count;
} pipewire_camera;

typedef struct pipewire_cameras pipewire_cameras;

// Asks the session's PipeWire, for `milliseconds` at most. Null where it can't, with the reason in `problem`.
pipewire_cameras *pipewire_cameras_list(int milliseconds, char *problem, size_t size);
uint32_t pipewire_cameras_count(const pipewire_cameras *cameras);
const pipewire_camera *pipewire_cameras_get(const pipewire_cameras *cameras, uint32_t index);
void pipewire_cameras_free(pipewire_cameras *cameras);

// Connects to a camera, for one of its formats. Pictures have `bytes`; otherwise as `pipewire_video_connect`.
pipewire_video *pipewire_camera_connect(uint32_t node, const pipewire_camera_format *format, char *problem, size_t size);
