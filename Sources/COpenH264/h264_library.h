#pragma once
#include "h264_codec.h"
#include <stdbool.h>
#include <wels/codec_api.h>
