#pragma once
// For the C of CPipeWireVideo: PipeWire's own headers are macros for the most part, which Swift can't call.
#include <pipewire/pipewire.h>
