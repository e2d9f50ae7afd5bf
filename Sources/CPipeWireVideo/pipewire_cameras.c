#include "pipewire_cameras.h"
#include "formats.h"
#include "pipewire_library.h"
#include <linux/v4l2-controls.h>
#include <spa/param/props.h>
#include <spa/pod/parser.h>
#include <spa/utils/result.h>
#include <stdio.h>
#include <unistd.h>

// Nobody has more; what comes beyond is left out.
#define MOST_CAMERAS 32

// A control that switches a light: PipeWire has V4L2's controls as properties of its own.
typedef struct {
    uint32_t property;
    // Whether it is a switch; a choice of several otherwise, by number.
    bool is_switch;
    int32_t on, off;
} light_control;

typedef struct {
    struct pipewire_cameras *cameras;
    struct pw_proxy *proxy;
    struct spa_hook proxy_listener, listener;
    pipewire_camera camera;
    pipewire_camera_format formats[PIPEWIRE_MOST_FORMATS];
    light_control light;
} entry;

struct pipewire_cameras {
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_registry *registry;
    struct spa_hook core_listener, registry_listener;
    entry *entries[MOST_CAMERAS];
    uint32_t count;
    // The newest question, and the newest answer.
    int asked, answered;
    char problem[256], light_problem[256];
};

// Until all that was asked before is answered.
static void await_answers(pipewire_cameras *cameras) {
    cameras->asked = pw_core_sync(cameras->core, PW_ID_CORE, cameras->asked);
}

// MARK: One camera

static void find_light(entry *entry, const struct spa_pod *param) {
    static const struct {
        uint32_t control;
        bool is_switch;
        int32_t on;
    } lights[] = {
        {V4L2_CID_FLASH_LED_MODE, false, V4L2_FLASH_LED_MODE_TORCH}, {V4L2_CID_ILLUMINATORS_1, true, 1},
        {V4L2_CID_ILLUMINATORS_2, true, 1},
    };
    uint32_t property;
    if (entry->camera.has_light || !pod_is_sound(param)
        || spa_pod_parse_object(
               param, SPA_TYPE_OBJECT_PropInfo, NULL, SPA_PROP_INFO_id, SPA_POD_Id(&property))
            < 0)
        return;
    for (size_t i = 0; i < SPA_N_ELEMENTS(lights); i++)
        if (property == SPA_PROP_START_CUSTOM + lights[i].control) {
            entry->camera.has_light = true;
            entry->light = (light_control){property, lights[i].is_switch, lights[i].on, 0};
        }
}

static void on_param(void *data, int sequence, uint32_t id, uint32_t index, uint32_t next, const struct spa_pod *param) {
    (void)sequence, (void)index, (void)next;
    entry *entry = data;
    if (id == SPA_PARAM_EnumFormat) camera_add_formats(entry->formats, &entry->camera.format_count, param);
    if (id == SPA_PARAM_PropInfo) find_light(entry, param);
}

// Told when the camera is there, and when what it can give has changed.
static void on_info(void *data, const struct pw_node_info *info) {
    entry *entry = data;
    if (!(info->change_mask & PW_NODE_CHANGE_MASK_PARAMS)) return;
    entry->camera.format_count = 0;
    entry->camera.has_light = false;
    for (uint32_t i = 0; i < info->n_params; i++) {
        uint32_t id = info->params[i].id;
        if ((id == SPA_PARAM_EnumFormat || id == SPA_PARAM_PropInfo) && (info->params[i].flags & SPA_PARAM_INFO_READ))
            pw_node_enum_params((struct pw_node *)entry->proxy, 0, id, 0, UINT32_MAX, NULL);
    }
    await_answers(entry->cameras);
}

static void on_proxy_error(void *data, int sequence, int result, const char *message) {
    (void)sequence;
    entry *entry = data;
    snprintf(
        entry->cameras->light_problem, sizeof entry->cameras->light_problem, "%s",
        message ? message : spa_strerror(result));
}

static const struct pw_proxy_events proxy_events = {PW_VERSION_PROXY_EVENTS, .error = on_proxy_error};
static const struct pw_node_events node_events = {PW_VERSION_NODE_EVENTS, .info = on_info, .param = on_param};

static void end(entry *entry) {
    if (entry->proxy) {
        spa_hook_remove(&entry->listener);
        spa_hook_remove(&entry->proxy_listener);
        pw_proxy_destroy(entry->proxy);
    }
    free(entry);
}

// MARK: All of them

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
    entry->cameras = cameras;
    entry->camera.node = id;
    snprintf(entry->camera.name, sizeof entry->camera.name, "%s", name ? name : "");
    snprintf(
        entry->camera.description, sizeof entry->camera.description, "%s",
        description ? description : entry->camera.name);
    entry->camera.formats = entry->formats;
    entry->proxy = pw_registry_bind(cameras->registry, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
    if (!entry->proxy) return end(entry);
    pw_proxy_add_listener(entry->proxy, &entry->proxy_listener, &proxy_events, entry);
    pw_proxy_add_object_listener(entry->proxy, &entry->listener, &node_events, entry);
    cameras->entries[cameras->count++] = entry;
    await_answers(cameras);
}

static void on_global_remove(void *data, uint32_t id) {
    pipewire_cameras *cameras = data;
    for (uint32_t i = 0; i < cameras->count; i++) {
        if (cameras->entries[i]->camera.node != id) continue;
        end(cameras->entries[i]);
        cameras->count--;
        for (uint32_t j = i; j < cameras->count; j++) cameras->entries[j] = cameras->entries[j + 1];
        return;
    }
}

static void on_done(void *data, uint32_t id, int sequence) {
    if (id == PW_ID_CORE) ((pipewire_cameras *)data)->answered = sequence;
}

static void on_error(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)sequence;
    pipewire_cameras *cameras = data;
    if (id != PW_ID_CORE) return;
    snprintf(
        cameras->problem, sizeof cameras->problem, "%s",
        result == -EPIPE ? "it ended" : message ? message : spa_strerror(result));
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .done = on_done, .error = on_error};
static const struct pw_registry_events registry_events = {
    PW_VERSION_REGISTRY_EVENTS, .global = on_global, .global_remove = on_global_remove};

static const char *connect_cameras(pipewire_cameras *cameras, int descriptor) {
    // The connection takes the descriptor, whether or not there is one.
    cameras->core = descriptor >= 0 ? pw_context_connect_fd(cameras->context, descriptor, NULL, 0)
                                    : pw_context_connect(cameras->context, NULL, 0);
    if (!cameras->core) {
        bool is_absent = errno == EHOSTDOWN || errno == ECONNREFUSED || errno == ENOENT;
        return is_absent ? "nothing listens at its socket" : strerror(errno);
    }
    pw_core_add_listener(cameras->core, &cameras->core_listener, &core_events, cameras);
    cameras->registry = pw_core_get_registry(cameras->core, PW_VERSION_REGISTRY, 0);
    if (!cameras->registry) return strerror(errno);
    pw_registry_add_listener(cameras->registry, &cameras->registry_listener, &registry_events, cameras);
    await_answers(cameras);
    return NULL;
}

pipewire_cameras *pipewire_cameras_open(int descriptor, char *problem, size_t size) {
    const char *reason = pipewire_library_begin();
    pipewire_cameras *cameras = reason ? NULL : calloc(1, sizeof *cameras);
    if (cameras) cameras->loop = pw_loop_new(NULL);
    if (cameras && cameras->loop) cameras->context = pw_context_new(cameras->loop, NULL, 0);
    if (!reason) reason = "it can't be started";
    if (cameras && cameras->context) {
        pw_loop_enter(cameras->loop);
        reason = connect_cameras(cameras, descriptor);
        pw_loop_leave(cameras->loop);
    } else if (descriptor >= 0) {
        close(descriptor);
    }
    if (!reason) return cameras;
    snprintf(problem, size, "%s", reason);
    if (cameras) pipewire_cameras_close(cameras);
    return NULL;
}

void pipewire_cameras_close(pipewire_cameras *cameras) {
    if (cameras->loop) pw_loop_enter(cameras->loop);
    for (uint32_t i = 0; i < cameras->count; i++) end(cameras->entries[i]);
    if (cameras->registry) pw_proxy_destroy((struct pw_proxy *)cameras->registry);
    if (cameras->core) pw_core_disconnect(cameras->core);
    if (cameras->context) pw_context_destroy(cameras->context);
    if (cameras->loop) {
        pw_loop_leave(cameras->loop);
        pw_loop_destroy(cameras->loop);
    }
    free(cameras);
}

int pipewire_cameras_descriptor(const pipewire_cameras *cameras) { return pw_loop_get_fd(cameras->loop); }

bool pipewire_cameras_update(pipewire_cameras *cameras) {
    pw_loop_enter(cameras->loop);
    // Each takes in what is there; questions of ours go out with the next.
    while (!cameras->problem[0] && pw_loop_iterate(cameras->loop, 0) > 0) {}
    pw_loop_leave(cameras->loop);
    return !cameras->problem[0];
}

const char *pipewire_cameras_problem(const pipewire_cameras *cameras) { return cameras->problem; }
bool pipewire_cameras_are_complete(const pipewire_cameras *cameras) { return cameras->answered == cameras->asked; }
uint32_t pipewire_cameras_count(const pipewire_cameras *cameras) { return cameras->count; }

const pipewire_camera *pipewire_cameras_get(const pipewire_cameras *cameras, uint32_t index) {
    return &cameras->entries[index]->camera;
}

// MARK: Lights

bool pipewire_cameras_set_light(pipewire_cameras *cameras, uint32_t node, bool is_on) {
    entry *entry = NULL;
    for (uint32_t i = 0; i < cameras->count; i++)
        if (cameras->entries[i]->camera.node == node) entry = cameras->entries[i];
    if (!entry || !entry->camera.has_light) return false;
    cameras->light_problem[0] = 0;
    int32_t value = is_on ? entry->light.on : entry->light.off;
    uint8_t memory[256];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    struct spa_pod_frame frame;
    spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Props, SPA_PARAM_Props);
    spa_pod_builder_prop(&builder, entry->light.property, 0);
    if (entry->light.is_switch)
        spa_pod_builder_bool(&builder, value != 0);
    else
        spa_pod_builder_int(&builder, value);
    struct spa_pod *props = spa_pod_builder_pop(&builder, &frame);
    pw_loop_enter(cameras->loop);
    int result = pw_node_set_param((struct pw_node *)entry->proxy, SPA_PARAM_Props, 0, props);
    if (result < 0) snprintf(cameras->light_problem, sizeof cameras->light_problem, "%s", spa_strerror(result));
    await_answers(cameras);
    pw_loop_leave(cameras->loop);
    return true;
}

const char *pipewire_cameras_light_problem(const pipewire_cameras *cameras) { return cameras->light_problem; }
