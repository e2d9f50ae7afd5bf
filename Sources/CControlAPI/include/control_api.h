#pragma once
#include <stddef.h>

/// The description of the control interface, `openapi.json`.
const unsigned char *control_api(size_t *size);
