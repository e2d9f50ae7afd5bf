#pragma once
#include "pipewire_cameras.h"

// What a camera's parameters say: objects of SPA, of which no more is known than that they end where they say.

// More formats of one camera are left out.
#define PIPEWIRE_MOST_FORMATS 256

struct spa_pod;

// Adds the formats that a camera enumerates in one of its parameters, those that are read here.
void camera_add_formats(pipewire_camera_format *formats, uint32_t *count, const struct spa_pod *param);
// What a stream's format is; false for one that is not read.
bool camera_parse(const struct spa_pod *param, pipewire_camera_format *format);
