#pragma once
#include <SDL2/SDL.h>
#include <stdbool.h>

// SDL 2, loaded when it is first needed: a program that shows no window starts without it.

// The functions that are used.
#define EACH_SDL_FUNCTION(FUNCTION) \
    FUNCTION(CreateRenderer) FUNCTION(CreateTexture) FUNCTION(CreateWindow) FUNCTION(CreateWindowFrom) \
    FUNCTION(DestroyRenderer) FUNCTION(DestroyTexture) FUNCTION(DestroyWindow) FUNCTION(EventState) \
    FUNCTION(GL_GetProcAddress) FUNCTION(GetCurrentVideoDriver) FUNCTION(GetDisplayUsableBounds) FUNCTION(GetError) \
    FUNCTION(GetRendererInfo) FUNCTION(GetRendererOutputSize) FUNCTION(GetVersion) FUNCTION(GetWindowDisplayIndex) \
    FUNCTION(GetWindowFlags) FUNCTION(GetWindowID) FUNCTION(GetWindowSize) FUNCTION(GetYUVConversionMode) \
    FUNCTION(InitSubSystem) FUNCTION(PushEvent) FUNCTION(RegisterEvents) FUNCTION(RenderClear) FUNCTION(RenderCopyEx) \
    FUNCTION(RenderFillRect) FUNCTION(RenderPresent) FUNCTION(SetHintWithPriority) FUNCTION(SetRenderDrawBlendMode) \
    FUNCTION(SetRenderDrawColor) FUNCTION(SetTextureScaleMode) FUNCTION(SetWindowFullscreen) \
    FUNCTION(SetWindowMinimumSize) FUNCTION(SetWindowSize) FUNCTION(SetWindowTitle) FUNCTION(SetYUVConversionMode) \
    FUNCTION(ShowCursor) FUNCTION(ShowWindow) FUNCTION(UpdateNVTexture) FUNCTION(UpdateTexture) \
    FUNCTION(UpdateYUVTexture) FUNCTION(WaitEventTimeout)

// The functions, by their names without `SDL_`.
typedef struct {
#define SDL_MEMBER(name) __typeof__(&SDL_##name) _Nonnull name;
    EACH_SDL_FUNCTION(SDL_MEMBER)
#undef SDL_MEMBER
} sdl_functions;

// Loads the functions, once. Returns null if the library is missing or lacks one, with the reason in `problem`.
const sdl_functions *_Nullable sdl_load(const char *_Nullable *_Nonnull problem);

// Makes SDL report the end of a window and the size of a foreign one, as it does for its own. From then on, neither
// errors of the X server nor its end terminate the process. Returns the window's X11 number; 0 if it has none.
unsigned long sdl_follow_x11_window(SDL_Window *_Nonnull window, bool is_foreign);

// Whether the connection to the X server is lost. SDL can't be used for windows then.
bool sdl_lost_x11(void);

// Waits until the connection to the X server is readable or lost, or until `sdl_end_x11_wait` is called, for `timeout`
// milliseconds at most, forever if it is negative. Xlib and SDL may have events already. SDL ends its own waits through
// a second connection, whose loss terminates the process.
void sdl_wait_x11(int timeout);
void sdl_end_x11_wait(void);

// Whether an event reports the end of an X11 window; `id` is its X11 number.
bool sdl_tells_of_destruction(const SDL_Event *_Nonnull event, unsigned long *_Nonnull id);

// Whether OpenGL draws with the processor. Needs an OpenGL renderer that was created on this thread.
bool sdl_draws_in_software(void);
