#pragma once
#include "pipewire_cameras.h"
#include <spa/pod/builder.h>

// What cameras' formats are in SPA's words.

#define MOST_FORMATS 256

// Adds the formats that a camera enumerates in one of its parameters, those that are read here.
void camera_add_formats(pipewire_camera_format *formats, uint32_t *count, const struct spa_pod *param);
// The offer to take a format at its first rate; with `any_rate`, at whatever rate.
const struct spa_pod *camera_offer(struct spa_pod_builder *builder, const pipewire_camera_format *format, bool any_rate);
// What a stream's format is; false for one that is not read.
bool camera_parse(const struct spa_pod *param, pipewire_camera_format *format);
