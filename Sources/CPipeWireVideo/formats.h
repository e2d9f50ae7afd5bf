#pragma once
#include "pipewire_cameras.h"
#include <spa/pod/builder.h>

// What the formats of SPA are here; false for one that is not read.
bool camera_pixels(uint32_t format, pipewire_camera_pixels *pixels);
// The offer to take this format.
const struct spa_pod *camera_offer(struct spa_pod_builder *builder, const pipewire_camera_format *format);
