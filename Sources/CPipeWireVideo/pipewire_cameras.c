#include "pipewire_cameras.h"
#include "formats.h"
#include "pipewire_library.h"
#include <poll.h>
#include <spa/param/video/format-utils.h>
#include <spa/pod/iter.h>
#include <stdio.h>
#include <time.h>

// Nobody has more; what comes beyond is left out.
#define MOST_CAMERAS 32
#define MOST_FORMATS 256

typedef struct {
    pipewire_cameras *cameras;
    struct pw_proxy *proxy;
    struct spa_hook listener;
    pipewire_camera camera;
    pipewire_camera_format formats[MOST_FORMATS];
} entry;

struct pipewire_cameras {
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_registry *registry;
    struct spa_hook core_listener, registry_listener;
    entry *entries[MOST_CAMERAS];
    uint32_t count;
    int awaited;
    bool is_done;
    char problem[256];
};

// MARK: Formats

static const struct {
    uint32_t spa;
    pipewire_camera_pixels pixels;
} known[] = {
    {SPA_VIDEO_FORMAT_YUY2, pipewire_camera_yuy2}, {SPA_VIDEO_FORMAT_NV12, pipewire_camera_nv12},
    {SPA_VIDEO_FORMAT_I420, pipewire_camera_i420}, {SPA_VIDEO_FORMAT_BGRx, pipewire_camera_bgrx},
    {SPA_VIDEO_FORMAT_BGRA, pipewire_camera_bgrx}, {SPA_VIDEO_FORMAT_RGBx, pipewire_camera_rgbx},
    {SPA_VIDEO_FORMAT_RGBA, pipewire_camera_rgbx}, {SPA_VIDEO_FORMAT_BGR, pipewire_camera_bgr},
    {SPA_VIDEO_FORMAT_RGB, pipewire_camera_rgb},
};

// The values of a property of a format: those that are enumerated, or a range's default, least and greatest.
typedef struct {
    const void *values;
    uint32_t count;
    bool is_range;
} alternatives;

static alternatives find(const struct spa_pod *format, uint32_t key, uint32_t type) {
    const struct spa_pod_prop *property = spa_pod_find_prop(format, NULL, key);
    alternatives found = {0};
    if (!property) return found;
    uint32_t choice;
    struct spa_pod *values = spa_pod_get_values(&property->value, &found.count, &choice);
    if (values->type != type || !found.count) return (alternatives){0};
    found.values = SPA_POD_BODY(values);
    found.is_range = choice == SPA_CHOICE_Range || choice == SPA_CHOICE_Step;
    return found;
}

static double rate_of(alternatives rates) {
    double highest = 0;
    const struct spa_fraction *values = rates.values;
    for (uint32_t i = 0; i < rates.count; i++)
        if (values[i].denom) highest = SPA_MAX(highest, (double)values[i].num / values[i].denom);
    return highest;
}

static void add_format(entry *entry, pipewire_camera_pixels pixels, struct spa_rectangle size, double rate) {
    if (entry->camera.format_count >= MOST_FORMATS || size.width < 2 || size.height < 2) return;
    entry->formats[entry->camera.format_count++] = (pipewire_camera_format){pixels, size.width, size.height, rate};
}

static void add_sizes(entry *entry, pipewire_camera_pixels pixels, alternatives sizes, double rate) {
    const struct spa_rectangle *values = sizes.values;
    if (sizes.is_range && sizes.count >= 3) {
        static const struct spa_rectangle usual[] = {{1920, 1080}, {1280, 720}, {640, 480}, {320, 240}};
        add_format(entry, pixels, values[0], rate);
        for (size_t i = 0; i < SPA_N_ELEMENTS(usual); i++)
            if (usual[i].width >= values[1].width && usual[i].height >= values[1].height
                && usual[i].width <= values[2].width && usual[i].height <= values[2].height)
                add_format(entry, pixels, usual[i], rate);
        return;
    }
    // The first is the default, and stands among the others, too.
    for (uint32_t i = sizes.count > 1 ? 1 : 0; i < sizes.count; i++) add_format(entry, pixels, values[i], rate);
}

static void on_param(void *data, int sequence, uint32_t id, uint32_t index, uint32_t next, const struct spa_pod *param) {
    (void)sequence, (void)index, (void)next;
    entry *entry = data;
    uint32_t type, subtype;
    if (id != SPA_PARAM_EnumFormat || !param || spa_format_parse(param, &type, &subtype) < 0
        || type != SPA_MEDIA_TYPE_video)
        return;
    alternatives sizes = find(param, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle);
    double rate = rate_of(find(param, SPA_FORMAT_VIDEO_framerate, SPA_TYPE_Fraction));
    if (subtype == SPA_MEDIA_SUBTYPE_mjpg) add_sizes(entry, pipewire_camera_mjpeg, sizes, rate);
    if (subtype != SPA_MEDIA_SUBTYPE_raw) return;
    alternatives formats = find(param, SPA_FORMAT_VIDEO_format, SPA_TYPE_Id);
    const uint32_t *values = formats.values;
    for (uint32_t i = formats.count > 1 ? 1 : 0; i < formats.count; i++) {
        pipewire_camera_pixels pixels;
        if (camera_pixels(values[i], &pixels)) add_sizes(entry, pixels, sizes, rate);
    }
}

bool camera_pixels(uint32_t format, pipewire_camera_pixels *pixels) {
    for (size_t i = 0; i < SPA_N_ELEMENTS(known); i++)
        if (known[i].spa == format) {
            *pixels = known[i].pixels;
            return true;
        }
    return false;
}

const struct spa_pod *camera_offer(struct spa_pod_builder *builder, const pipewire_camera_format *format) {
    struct spa_pod_frame frame, choice;
    spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    bool is_mjpeg = format->pixels == pipewire_camera_mjpeg;
    spa_pod_builder_add(
        builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
        SPA_POD_Id(is_mjpeg ? SPA_MEDIA_SUBTYPE_mjpg : SPA_MEDIA_SUBTYPE_raw), 0);
    if (!is_mjpeg) {
        // Those of the same order, with alpha or without; the first is the default.
        spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_format, 0);
        spa_pod_builder_push_choice(builder, &choice, SPA_CHOICE_Enum, 0);
        for (int round = 0; round < 2; round++)
            for (size_t i = 0; i < SPA_N_ELEMENTS(known); i++)
                if (known[i].pixels == format->pixels) {
                    spa_pod_builder_id(builder, known[i].spa);
                    if (!round) break;
                }
        spa_pod_builder_pop(builder, &choice);
    }
    uint32_t rate = (uint32_t)(format->frames_per_second * 1000 + 0.5);
    spa_pod_builder_add(
        builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&SPA_RECTANGLE(format->width, format->height)),
        SPA_FORMAT_VIDEO_framerate,
        SPA_POD_CHOICE_RANGE_Fraction(
            &SPA_FRACTION(rate ? rate : 30000, 1000), &SPA_FRACTION(0, 1), &SPA_FRACTION(1000, 1)),
        0);
    return spa_pod_builder_pop(builder, &frame);
}

// MARK: Nodes

static const struct pw_node_events node_events = {PW_VERSION_NODE_EVENTS, .param = on_param};

static void on_global(
    void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version, const struct spa_dict *properties) {
    (void)permissions, (void)version;
    pipewire_cameras *cameras = data;
    if (!properties || strcmp(type, PW_TYPE_INTERFACE_Node) != 0 || cameras->count >= MOST_CAMERAS) return;
    const char *class = spa_dict_lookup(properties, PW_KEY_MEDIA_CLASS);
    const char *role = spa_dict_lookup(properties, PW_KEY_MEDIA_ROLE);
    if (!class || strcmp(class, "Video/Source") != 0 || (role && strcmp(role, "Camera") != 0)) return;
    entry *entry = calloc(1, sizeof *entry);
    if (!entry) return;
    const char *name = spa_dict_lookup(properties, PW_KEY_NODE_NAME);
    const char *description = spa_dict_lookup(properties, PW_KEY_NODE_DESCRIPTION);
    entry->camera.node = id;
    snprintf(entry->camera.name, sizeof entry->camera.name, "%s", name ? name : "");
    snprintf(
        entry->camera.description, sizeof entry->camera.description, "%s",
        description ? description : entry->camera.name);
    entry->camera.formats = entry->formats;
    cameras->entries[cameras->count++] = entry;
    entry->proxy = pw_registry_bind(cameras->registry, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
    if (!entry->proxy) return;
    pw_proxy_add_object_listener(entry->proxy, &entry->listener, &node_events, entry);
    pw_node_enum_params((struct pw_node *)entry->proxy, 0, SPA_PARAM_EnumFormat, 0, UINT32_MAX, NULL);
    // Until the answers to that are there.
    cameras->awaited = pw_core_sync(cameras->core, PW_ID_CORE, cameras->awaited);
}

static void on_done(void *data, uint32_t id, int sequence) {
    pipewire_cameras *cameras = data;
    if (id == PW_ID_CORE && sequence == cameras->awaited) cameras->is_done = true;
}

static void on_error(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)sequence;
    pipewire_cameras *cameras = data;
    if (id != PW_ID_CORE) return;
    snprintf(cameras->problem, sizeof cameras->problem, "%s", message ? message : strerror(-result));
    cameras->is_done = true;
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .done = on_done, .error = on_error};
static const struct pw_registry_events registry_events = {PW_VERSION_REGISTRY_EVENTS, .global = on_global};

static int64_t now_in_milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static const char *list(pipewire_cameras *cameras, int milliseconds) {
    cameras->loop = pw_loop_new(NULL);
    if (cameras->loop) cameras->context = pw_context_new(cameras->loop, NULL, 0);
    if (!cameras->context) return "it can't be started";
    cameras->core = pw_context_connect(cameras->context, NULL, 0);
    if (!cameras->core) return strerror(errno);
    pw_core_add_listener(cameras->core, &cameras->core_listener, &core_events, cameras);
    cameras->registry = pw_core_get_registry(cameras->core, PW_VERSION_REGISTRY, 0);
    if (!cameras->registry) return strerror(errno);
    pw_registry_add_listener(cameras->registry, &cameras->registry_listener, &registry_events, cameras);
    cameras->awaited = pw_core_sync(cameras->core, PW_ID_CORE, 0);
    int64_t deadline = now_in_milliseconds() + milliseconds, left;
    pw_loop_enter(cameras->loop);
    while (!cameras->is_done && (left = deadline - now_in_milliseconds()) > 0) {
        struct pollfd readable = {pw_loop_get_fd(cameras->loop), POLLIN, 0};
        poll(&readable, 1, (int)left);
        pw_loop_iterate(cameras->loop, 0);
    }
    pw_loop_leave(cameras->loop);
    if (cameras->problem[0]) return cameras->problem;
    return cameras->is_done ? NULL : "it doesn't answer";
}

pipewire_cameras *pipewire_cameras_list(int milliseconds, char *problem, size_t size) {
    const char *reason = pipewire_library_begin();
    pipewire_cameras *cameras = reason ? NULL : calloc(1, sizeof *cameras);
    if (!reason) reason = cameras ? list(cameras, milliseconds) : strerror(ENOMEM);
    if (!reason) return cameras;
    snprintf(problem, size, "%s", reason);
    if (cameras) pipewire_cameras_free(cameras);
    return NULL;
}

uint32_t pipewire_cameras_count(const pipewire_cameras *cameras) { return cameras->count; }

const pipewire_camera *pipewire_cameras_get(const pipewire_cameras *cameras, uint32_t index) {
    return &cameras->entries[index]->camera;
}

void pipewire_cameras_free(pipewire_cameras *cameras) {
    if (cameras->loop) pw_loop_enter(cameras->loop);
    for (uint32_t i = 0; i < cameras->count; i++) {
        if (cameras->entries[i]->proxy) pw_proxy_destroy(cameras->entries[i]->proxy);
        free(cameras->entries[i]);
    }
    if (cameras->registry) pw_proxy_destroy((struct pw_proxy *)cameras->registry);
    if (cameras->core) pw_core_disconnect(cameras->core);
    if (cameras->context) pw_context_destroy(cameras->context);
    if (cameras->loop) {
        pw_loop_leave(cameras->loop);
        pw_loop_destroy(cameras->loop);
    }
    free(cameras);
}
