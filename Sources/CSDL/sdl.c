#include "sdl.h"

#include <SDL2/SDL_syswm.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

// SDL's connection to an X server. Xlib's own handlers of errors would end the process.
static struct {
    Display *display;
    XErrorHandler of_others;
    XIOErrorHandler of_lost_others;
    __typeof__(&XUnlockDisplay) unlock;
    // A copy of the connection's descriptor: the libraries close theirs when the connection ends.
    int descriptor;
    atomic_bool is_lost;
    // Readable when a wait is to end.
    int wakening;
} x11 = {.wakening = -1};

static int handle_error(Display *display, XErrorEvent *error) {
    // Others can destroy a window at any time, also between two requests about it.
    return display == x11.display || !x11.of_others ? 0 : x11.of_others(display, error);
}

static void note_loss(Display *display, void *unused) {
    (void)unused;
    atomic_store(&x11.is_lost, true);
    // Xlib has locked it for a thread that ends the process. Where none does, others would wait at the process's end.
    x11.unlock(display);
}

static int handle_loss(Display *display) {
    return display == x11.display || !x11.of_lost_others ? 0 : x11.of_lost_others(display);
}

static void handle_errors(void *xlib, Display *display) {
    if (x11.display == display) return;
    __typeof__(&XSetErrorHandler) set_error_handler = (__typeof__(set_error_handler))dlsym(xlib, "XSetErrorHandler");
    __typeof__(&XSetIOErrorHandler) set_loss_handler = (__typeof__(set_loss_handler))dlsym(xlib, "XSetIOErrorHandler");
    __typeof__(&XSetIOErrorExitHandler) set_exit = (__typeof__(set_exit))dlsym(xlib, "XSetIOErrorExitHandler");
    x11.unlock = (__typeof__(x11.unlock))dlsym(xlib, "XUnlockDisplay");
    if (!set_error_handler || !set_loss_handler || !set_exit || !x11.unlock) return;
    const bool is_first = !x11.display;
    if (!is_first) close(x11.descriptor);
    x11.descriptor = dup(ConnectionNumber(display));
    x11.display = display;
    set_exit(display, note_loss, NULL);
    if (!is_first) return;
    x11.wakening = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // What handles the other connections is the program's, if it has set anything.
    XErrorHandler of_others = set_error_handler(NULL);
    XIOErrorHandler of_lost_others = set_loss_handler(NULL);
    if (set_error_handler(handle_error) != of_others) x11.of_others = of_others;
    if (set_loss_handler(handle_loss) != of_lost_others) x11.of_lost_others = of_lost_others;
}

unsigned long sdl_follow_x11_window(SDL_Window *window, bool is_foreign) {
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (!get_window_info(window, &info) || info.subsystem != SDL_SYSWM_X11) return 0;
    void *xlib = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (!xlib) return 0;
    handle_errors(xlib, info.info.x11.display);
    if (is_foreign) {
        __typeof__(&XSelectInput) select_input = (__typeof__(select_input))dlsym(xlib, "XSelectInput");
        if (select_input)
            select_input(info.info.x11.display, info.info.x11.window, ExposureMask | StructureNotifyMask);
    }
    dlclose(xlib);
    return info.info.x11.window;
}

bool sdl_lost_x11(void) {
    if (!x11.display) return false;
    struct pollfd connection = {.fd = x11.descriptor};
    if (!atomic_load(&x11.is_lost) && poll(&connection, 1, 0) == 1) atomic_store(&x11.is_lost, true);
    return atomic_load(&x11.is_lost);
}

void sdl_wait_x11(int timeout) {
    // Without an eventfd, as when no descriptor was left, nothing can end the wait early.
    const int most = 100;
    if (x11.wakening < 0 && (timeout < 0 || timeout > most)) timeout = most;
    struct pollfd sources[] = {{.fd = x11.descriptor, .events = POLLIN}, {.fd = x11.wakening, .events = POLLIN}};
    poll(sources, 2, timeout);
    eventfd_t count;
    eventfd_read(x11.wakening, &count);
}

void sdl_end_x11_wait(void) { eventfd_write(x11.wakening, 1); }

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
