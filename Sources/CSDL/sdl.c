#include "sdl.h"

#include <SDL2/SDL_syswm.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static sdl_functions functions;
static __typeof__(&SDL_GetWindowWMInfo) get_window_info;
static const char *problem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) problem = name;
    return found;
}

static void find_functions(void) {
    static char words[512];
    // The name that it has without its development files.
    void *library = dlopen("libSDL2-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        strncpy(words, reason ? reason : "it can't be loaded", sizeof words - 1);
        problem = words;
        return;
    }
#define FIND(name) functions.name = (__typeof__(&SDL_##name))find(library, "SDL_" #name);
    EACH_SDL_FUNCTION(FIND)
#undef FIND
    get_window_info = (__typeof__(get_window_info))find(library, "SDL_GetWindowWMInfo");
    if (problem) {
        const char *absent = problem;
        strncpy(words, "it is too old: it has no ", sizeof words - 1);
        strncat(words, absent, sizeof words - strlen(words) - 1);
        problem = words;
    }
}

const sdl_functions *sdl_load(const char **reason) {
    pthread_once(&once, find_functions);
    *reason = problem;
    return problem ? NULL : &functions;
}

// Xlib, which SDL has loaded, and its connection.
static struct {
    Display *display;
    __typeof__(&XSelectInput) select_input;
    __typeof__(&XSetErrorHandler) set_error_handler;
    __typeof__(&XSync) sync;
} xlib;
static XErrorHandler heeding;

static bool find_xlib(Display *display) {
    void *library = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (!library) return false;
    xlib.display = display;
    xlib.select_input = (__typeof__(&XSelectInput))dlsym(library, "XSelectInput");
    xlib.set_error_handler = (__typeof__(&XSetErrorHandler))dlsym(library, "XSetErrorHandler");
    xlib.sync = (__typeof__(&XSync))dlsym(library, "XSync");
    dlclose(library);
    return xlib.select_input && xlib.set_error_handler && xlib.sync;
}

bool sdl_follow_foreign_window(SDL_Window *window) {
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (!get_window_info(window, &info) || info.subsystem != SDL_SYSWM_X11) return false;
    if (!find_xlib(info.info.x11.display)) return false;
    xlib.select_input(xlib.display, info.info.x11.window, ExposureMask | StructureNotifyMask);
    return true;
}

static int ignore(Display *display, XErrorEvent *error) {
    (void)display, (void)error;
    return 0;
}

void sdl_ignore_errors_of_x11(void) {
    if (xlib.display) heeding = xlib.set_error_handler(ignore);
}

void sdl_heed_errors_of_x11(void) {
    if (!xlib.display) return;
    // What was asked meanwhile is answered meanwhile.
    xlib.sync(xlib.display, False);
    xlib.set_error_handler(heeding);
}

bool sdl_tells_of_destruction(const SDL_Event *event, unsigned long *id) {
    if (event->type != SDL_SYSWMEVENT || event->syswm.msg->subsystem != SDL_SYSWM_X11) return false;
    const XEvent *told = &event->syswm.msg->msg.x11.event;
    if (told->type != DestroyNotify) return false;
    *id = told->xdestroywindow.window;
    return true;
}

bool sdl_draws_in_software(void) {
    typedef const char *get_string(unsigned name);
    get_string *get = (get_string *)functions.GL_GetProcAddress("glGetString");
    const unsigned gl_renderer = 0x1F01;
    const char *renderer = get ? get(gl_renderer) : NULL;
    return renderer && (strstr(renderer, "llvmpipe") || strstr(renderer, "softpipe"));
}
