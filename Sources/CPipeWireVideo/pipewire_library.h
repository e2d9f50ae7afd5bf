#pragma once
#include <pipewire/pipewire.h>

// Has libpipewire found and begun. Null where that was done, whose functions can be called then; else why it was not.
const char *pipewire_library_begin(void);
