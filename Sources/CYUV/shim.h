#pragma once
#include <stddef.h>
#include <libyuv.h>
