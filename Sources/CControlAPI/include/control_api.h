#pragma once
#include <stddef.h>

/// The OpenAPI description of the control interface, `openapi.json`.
const unsigned char *control_api(size_t *size);
