#pragma once
#include <SDL2/SDL.h>
#include <stdbool.h>

// SDL 2, looked for when it is wanted: a program that shows nothing starts where it is not installed.

// What is used of it.
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

// Finds the functions, once; null where the library is not there, or lacks one, with the reason in `problem`.
const sdl_functions *_Nullable sdl_load(const char *_Nullable *_Nonnull problem);

// Has SDL hear of the end of a window, and of the size of one that is somebody else's, as it does of its own. From then on
// neither errors of the X server nor its end end the process. Returns the window's number in X11; 0 where it has none.
unsigned long sdl_follow_x11_window(SDL_Window *_Nonnull window, bool is_foreign);

// Whether the connection to the X server is lost. SDL can't be used for windows then.
bool sdl_lost_x11(void);

// Whether an event tells that a window of X11's is gone; `id` is its number there.
bool sdl_tells_of_destruction(const SDL_Event *_Nonnull event, unsigned long *_Nonnull id);

// Whether it is the processor that OpenGL draws with. To be asked with a renderer of OpenGL's made on this thread.
bool sdl_draws_in_software(void);
