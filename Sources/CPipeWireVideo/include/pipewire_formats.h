#pragma once
#include "pipewire_cameras.h"

// Parses the parameters of a camera, which are SPA objects. Only the end of each object is checked before.

// The maximum number of formats of a camera; others are ignored.
#define PIPEWIRE_MOST_FORMATS 256

struct spa_pod;

// Adds those of the formats in one parameter of a camera that rtcshare can read.
void camera_add_formats(pipewire_camera_format *formats, uint32_t *count, const struct spa_pod *param);
// Parses the format of a stream. Returns false if rtcshare can't read it.
bool camera_parse(const struct spa_pod *param, pipewire_camera_format *format);
