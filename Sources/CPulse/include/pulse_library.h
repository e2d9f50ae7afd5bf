#pragma once
#include <pulse/context.h>
#include <pulse/error.h>
#include <pulse/introspect.h>
#include <pulse/mainloop.h>
#include <pulse/stream.h>
#include <pulse/subscribe.h>
#include <pulse/version.h>

// Null if libpulse is loaded, so that its functions can be called; otherwise the reason why it is not.
const char *_Nullable pulse_library_problem(void);
