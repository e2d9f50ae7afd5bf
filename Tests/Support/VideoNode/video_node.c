#include "video_node.h"
#include "pipewire_video.h"
#include <linux/v4l2-controls.h>
#include <pipewire/pipewire.h>
#include <spa/buffer/meta.h>
#include <spa/param/props.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_FORMATS 16
#define LARGEST_POINTER 64
#define MOST_RECTANGLES 16
#define TORCH (SPA_PROP_START_CUSTOM + V4L2_CID_FLASH_LED_MODE)

struct video_node {
    struct pw_thread_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_stream *stream;
    struct spa_hook listener;
    enum pw_stream_state state;
    bool has_format, has_light;
    video_node_format format;
    int32_t light;
    uint32_t data_type;
    // The last frame, if it is not announced yet.
    struct pw_buffer *late;
};

static const uint32_t formats_of_spa[] = {
    [video_node_yuy2] = SPA_VIDEO_FORMAT_YUY2, [video_node_nv12] = SPA_VIDEO_FORMAT_NV12,
    [video_node_i420] = SPA_VIDEO_FORMAT_I420, [video_node_bgrx] = SPA_VIDEO_FORMAT_BGRx,
    [video_node_bgra] = SPA_VIDEO_FORMAT_BGRA, [video_node_rgbx] = SPA_VIDEO_FORMAT_RGBx,
    [video_node_rgba] = SPA_VIDEO_FORMAT_RGBA, [video_node_bgr] = SPA_VIDEO_FORMAT_BGR,
    [video_node_rgb] = SPA_VIDEO_FORMAT_RGB,
};

static uint32_t byte_count(const video_node_format *format) { return format->width * format->height * 4 + 4096; }

// MARK: Parameters

static const struct spa_pod *offer(struct spa_pod_builder *builder, const video_node_format *format) {
    struct spa_pod_frame frame, choice;
    spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    bool is_mjpeg = format->pixels == video_node_mjpeg;
    spa_pod_builder_add(
        builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
        SPA_POD_Id(is_mjpeg ? SPA_MEDIA_SUBTYPE_mjpg : SPA_MEDIA_SUBTYPE_raw), 0);
    if (!is_mjpeg) spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_format, SPA_POD_Id(formats_of_spa[format->pixels]), 0);
    if (format->needs_dmabuf) {
        spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY);
        spa_pod_builder_long(builder, 0x0100000000000001);
    }
    spa_pod_builder_add(
        builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&SPA_RECTANGLE(format->width, format->height)), 0);
    spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_framerate, 0);
    if (format->rate_count > 1) {
        spa_pod_builder_push_choice(builder, &choice, SPA_CHOICE_Enum, 0);
        spa_pod_builder_fraction(builder, format->rates[0], 1);
    }
    for (uint32_t i = 0; i < format->rate_count; i++) spa_pod_builder_fraction(builder, format->rates[i], 1);
    if (!format->rate_count) spa_pod_builder_fraction(builder, 0, 1);
    if (format->rate_count > 1) spa_pod_builder_pop(builder, &choice);
    return spa_pod_builder_pop(builder, &frame);
}

static uint32_t offer_all(
    struct spa_pod_builder *builder, const video_node_format *formats, uint32_t count, const struct spa_pod **params) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < count && made < MOST_FORMATS; i++) params[made++] = offer(builder, &formats[i]);
    return made;
}

static const struct spa_pod *metadata(struct spa_pod_builder *builder, uint32_t type, size_t size) {
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
        SPA_POD_Int((int)size));
}

// MARK: Events of PipeWire

static void take_format(video_node *node, const struct spa_pod *param) {
    uint32_t type, subtype;
    struct spa_video_info_raw raw = {0};
    struct spa_video_info_mjpg mjpeg = {0};
    if (spa_format_parse(param, &type, &subtype) < 0) return;
    if (subtype == SPA_MEDIA_SUBTYPE_mjpg) {
        if (spa_format_video_mjpg_parse(param, &mjpeg) < 0) return;
        node->format = (video_node_format){
            video_node_mjpeg, mjpeg.size.width, mjpeg.size.height, {mjpeg.framerate.num / SPA_MAX(mjpeg.framerate.denom, 1u)}, 1, false};
    } else {
        if (spa_format_video_raw_parse(param, &raw) < 0) return;
        node->format = (video_node_format){
            0, raw.size.width, raw.size.height, {raw.framerate.num / SPA_MAX(raw.framerate.denom, 1u)}, 1, raw.modifier != 0};
        for (size_t i = 0; i < SPA_N_ELEMENTS(formats_of_spa); i++)
            if (formats_of_spa[i] == raw.format) node->format.pixels = (video_node_pixels)i;
    }
    node->has_format = true;
    uint8_t memory[2048];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    int types = 1 << SPA_DATA_DmaBuf;
    if (!node->format.needs_dmabuf) types |= 1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr;
    const struct spa_pod *params[] = {
        spa_pod_builder_add_object(
            &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
            SPA_POD_CHOICE_RANGE_Int(4, 2, 8), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
            SPA_POD_Int((int)byte_count(&node->format)), SPA_PARAM_BUFFERS_stride, SPA_POD_Int(0),
            SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(types)),
        metadata(&builder, SPA_META_Header, sizeof(struct spa_meta_header)),
        metadata(&builder, SPA_META_VideoCrop, sizeof(struct spa_meta_region)),
        metadata(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform)),
        metadata(&builder, SPA_META_VideoDamage, sizeof(struct spa_meta_region) * MOST_RECTANGLES),
        metadata(
            &builder, SPA_META_Cursor,
            sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) + LARGEST_POINTER * LARGEST_POINTER * 4)};
    pw_stream_update_params(node->stream, params, SPA_N_ELEMENTS(params));
}

static void on_param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    video_node *node = data;
    if (id == SPA_PARAM_Format && param) take_format(node, param);
    if (id != SPA_PARAM_Props || !param) return;
    const struct spa_pod_prop *property = spa_pod_find_prop(param, NULL, TORCH);
    if (property) spa_pod_get_int(&property->value, &node->light);
}

static void on_state_changed(
    void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)old, (void)error;
    ((video_node *)data)->state = state;
}

static void on_add_buffer(void *data, struct pw_buffer *buffer) {
    ((video_node *)data)->data_type = buffer->buffer->datas[0].type;
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS, .state_changed = on_state_changed, .param_changed = on_param_changed,
    .add_buffer = on_add_buffer};

// MARK: Creation and destruction

static int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    if (descriptor >= 0) close(descriptor);
    return -1;
}

static bool start(
    video_node *node, const char *socket, const char *name, bool is_camera, const video_node_format *formats,
    uint32_t count) {
    int descriptor = connect_to(socket);
    if (descriptor < 0) return false;
    node->core = pw_context_connect_fd(node->context, descriptor, NULL, 0);
    if (!node->core) return false;
    struct pw_properties *properties = pw_properties_new(PW_KEY_NODE_NAME, name, PW_KEY_NODE_DESCRIPTION, name, NULL);
    // A desktop's screen is not a source that a session would list.
    pw_properties_set(properties, PW_KEY_MEDIA_CLASS, is_camera ? "Video/Source" : "Stream/Output/Video");
    if (is_camera) pw_properties_set(properties, PW_KEY_MEDIA_ROLE, "Camera");
    node->stream = pw_stream_new(node->core, name, properties);
    if (!node->stream) return false;
    pw_stream_add_listener(node->stream, &node->listener, &stream_events, node);
    uint8_t memory[8192];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[MOST_FORMATS + 1];
    uint32_t made = offer_all(&builder, formats, count, params);
    if (node->has_light)
        params[made++] = spa_pod_builder_add_object(
            &builder, SPA_TYPE_OBJECT_PropInfo, SPA_PARAM_PropInfo, SPA_PROP_INFO_id, SPA_POD_Id(TORCH),
            SPA_PROP_INFO_type, SPA_POD_Int(0), SPA_PROP_INFO_description, SPA_POD_String("LED Mode"));
    return pw_stream_connect(
               node->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS, params,
               made)
        >= 0;
}

video_node *video_node_create(
    const char *socket, const char *name, bool is_camera, bool has_light, const video_node_format *formats,
    uint32_t count) {
    // The PipeWire functions are loaded at run time, which begins with this call.
    pipewire_video_library_version();
    video_node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->has_light = has_light;
    node->light = -1;
    node->loop = pw_thread_loop_new("video node", NULL);
    if (node->loop) node->context = pw_context_new(pw_thread_loop_get_loop(node->loop), NULL, 0);
    bool is_started = node->context && pw_thread_loop_start(node->loop) >= 0;
    if (is_started) {
        pw_thread_loop_lock(node->loop);
        is_started = start(node, socket, name, is_camera, formats, count);
        pw_thread_loop_unlock(node->loop);
    }
    if (is_started) return node;
    video_node_destroy(node);
    return NULL;
}

void video_node_destroy(video_node *node) {
    if (node->loop) pw_thread_loop_stop(node->loop);
    if (node->stream) pw_stream_destroy(node->stream);
    if (node->core) pw_core_disconnect(node->core);
    if (node->context) pw_context_destroy(node->context);
    if (node->loop) pw_thread_loop_destroy(node->loop);
    free(node);
}

// MARK: State

uint32_t video_node_id(video_node *node) {
    pw_thread_loop_lock(node->loop);
    uint32_t id = pw_stream_get_node_id(node->stream);
    pw_thread_loop_unlock(node->loop);
    return id;
}

bool video_node_is_streaming(video_node *node) {
    pw_thread_loop_lock(node->loop);
    bool is_streaming = node->state == PW_STREAM_STATE_STREAMING;
    pw_thread_loop_unlock(node->loop);
    return is_streaming;
}

bool video_node_get_format(video_node *node, video_node_format *format) {
    pw_thread_loop_lock(node->loop);
    bool has_format = node->has_format;
    *format = node->format;
    pw_thread_loop_unlock(node->loop);
    return has_format;
}

bool video_node_can_map(video_node *node) {
    pw_thread_loop_lock(node->loop);
    bool can_map = node->data_type == SPA_DATA_MemFd || node->data_type == SPA_DATA_MemPtr;
    pw_thread_loop_unlock(node->loop);
    return can_map;
}

int32_t video_node_light(video_node *node) {
    pw_thread_loop_lock(node->loop);
    int32_t light = node->light;
    pw_thread_loop_unlock(node->loop);
    return light;
}

// MARK: Frames

static struct spa_region region(video_node_rectangle rectangle) {
    return SPA_REGION(rectangle.x, rectangle.y, rectangle.width, rectangle.height);
}

static void describe(struct spa_buffer *buffer, const video_node_picture *picture) {
    struct spa_meta_header *header = spa_buffer_find_meta_data(buffer, SPA_META_Header, sizeof *header);
    if (header)
        *header = (struct spa_meta_header){
            .pts = picture->time, .seq = picture->sequence, .flags = picture->is_corrupted ? SPA_META_HEADER_FLAG_CORRUPTED : 0};
    struct spa_meta_region *crop = spa_buffer_find_meta_data(buffer, SPA_META_VideoCrop, sizeof *crop);
    if (crop) crop->region = region(picture->crop);
    struct spa_meta_videotransform *turn =
        spa_buffer_find_meta_data(buffer, SPA_META_VideoTransform, sizeof *turn);
    if (turn) turn->transform = picture->transform;
    struct spa_meta *damage = spa_buffer_find_meta(buffer, SPA_META_VideoDamage);
    if (damage) {
        struct spa_meta_region *parts = spa_meta_first(damage);
        for (uint32_t i = 0; i < MOST_RECTANGLES; i++)
            parts[i].region = i < picture->damage_count ? region(picture->damage[i]) : SPA_REGION(0, 0, 0, 0);
    }
    struct spa_meta_cursor *cursor = spa_buffer_find_meta_data(buffer, SPA_META_Cursor, sizeof *cursor);
    if (!cursor) return;
    *cursor = (struct spa_meta_cursor){
        .id = picture->has_pointer && picture->pointer_is_visible, .position = {picture->pointer_x, picture->pointer_y},
        .hotspot = {picture->hotspot_x, picture->hotspot_y}};
    if (!picture->pointer_pixels) return;
    cursor->bitmap_offset = sizeof *cursor;
    struct spa_meta_bitmap *bitmap = SPA_PTROFF(cursor, cursor->bitmap_offset, struct spa_meta_bitmap);
    *bitmap = (struct spa_meta_bitmap){
        .format = SPA_VIDEO_FORMAT_BGRA, .size = SPA_RECTANGLE(picture->pointer_width, picture->pointer_height),
        .stride = (int32_t)picture->pointer_width * 4, .offset = sizeof *bitmap};
    memcpy(
        SPA_PTROFF(bitmap, bitmap->offset, void), picture->pointer_pixels,
        (size_t)picture->pointer_width * picture->pointer_height * 4);
}

bool video_node_give(video_node *node, const video_node_picture *picture) {
    pw_thread_loop_lock(node->loop);
    struct pw_buffer *taken = node->state == PW_STREAM_STATE_STREAMING ? pw_stream_dequeue_buffer(node->stream) : NULL;
    if (taken) {
        struct spa_data *data = &taken->buffer->datas[0];
        uint32_t size = SPA_MIN(picture->byte_count, data->maxsize);
        if (data->data && picture->bytes) memcpy(data->data, picture->bytes, size);
        *data->chunk = (struct spa_chunk){.size = size, .stride = picture->stride};
        describe(taken->buffer, picture);
        struct pw_buffer *told = picture->is_late ? node->late : taken;
        if (picture->is_late) node->late = taken;
        if (told) pw_stream_queue_buffer(node->stream, told);
    }
    pw_thread_loop_unlock(node->loop);
    return taken != NULL;
}

void video_node_offer(video_node *node, const video_node_format *formats, uint32_t count) {
    pw_thread_loop_lock(node->loop);
    uint8_t memory[8192];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[MOST_FORMATS];
    node->has_format = false;
    pw_stream_update_params(node->stream, params, offer_all(&builder, formats, count, params));
    pw_thread_loop_unlock(node->loop);
}

void video_node_set_active(video_node *node, bool is_active) {
    pw_thread_loop_lock(node->loop);
    pw_stream_set_active(node->stream, is_active);
    pw_thread_loop_unlock(node->loop);
}
