#pragma once
#include "pipewire_formats.h"
#include <spa/pod/builder.h>

// What cameras' formats are in SPA's words.

// What VP8 has room for.
#define LARGEST_SIDE 16383

// Whether a parameter is an object whose values lie where they should: it comes from another program, and the functions
// that read it look at less.
bool pod_is_sound(const struct spa_pod *param);
// The offer to take a format at its first rate; with `any_rate`, at whatever rate.
const struct spa_pod *camera_offer(struct spa_pod_builder *builder, const pipewire_camera_format *format, bool any_rate);
