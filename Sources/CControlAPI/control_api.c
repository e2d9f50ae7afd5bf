#include "control_api.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char bytes[] = {
#embed "openapi.json"
};

const unsigned char *control_api(size_t *size) {
    *size = sizeof bytes;
    return bytes;
}
