// Preloaded into xdg-desktop-portal-wlr: up to 0.7.1 it starts no cast before the compositor has named a format of DMA-BUF, and
// one that draws by the processor alone has none. This names one, which nobody then asks for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    void (*buffer)(void *, void *, uint32_t format, uint32_t width, uint32_t height, uint32_t stride);
    void (*others[4])(void);
    void (*linux_dmabuf)(void *, void *, uint32_t format, uint32_t width, uint32_t height);
    void (*buffer_done)(void *, void *);
} frame_listener;

static frame_listener theirs, ours;
static uint32_t sides[2];

static void take_buffer(void *data, void *frame, uint32_t format, uint32_t width, uint32_t height, uint32_t stride) {
    sides[0] = width;
    sides[1] = height;
    theirs.buffer(data, frame, format, width, height, stride);
}

static void take_buffer_done(void *data, void *frame) {
    const uint32_t xrgb8888 = 'X' | 'R' << 8 | '2' << 16 | '4' << 24;
    theirs.linux_dmabuf(data, frame, xrgb8888, sides[0], sides[1]);
    theirs.buffer_done(data, frame);
}

int wl_proxy_add_listener(void *proxy, void (**listener)(void), void *data) {
    int (*add)(void *, void *, void *) = (int (*)(void *, void *, void *))dlsym(RTLD_NEXT, "wl_proxy_add_listener");
    const char *(*class_of)(void *) = (const char *(*)(void *))dlsym(RTLD_NEXT, "wl_proxy_get_class");
    if (strcmp(class_of(proxy), "zwlr_screencopy_frame_v1") != 0) return add(proxy, listener, data);
    memcpy(&theirs, listener, sizeof theirs);
    ours = theirs;
    ours.buffer = take_buffer;
    ours.buffer_done = take_buffer_done;
    return add(proxy, &ours, data);
}
