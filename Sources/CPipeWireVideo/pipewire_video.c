#include "pipewire_video.h"
#include "formats.h"
#include "pipewire_library.h"
#include <spa/buffer/meta.h>
#include <spa/param/video/format-utils.h>
#include <spa/utils/result.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Larger pointers are left out.
#define LARGEST_POINTER 384
#define POINTER_BYTES(side) (sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) + (side) * (side) * 4)
#define MOST_RECTANGLES 16
#define MOST_BUFFERS 16

struct pipewire_video {
    // Runs the events, with its lock held.
    struct pw_thread_loop *loop;
    // Tells of them.
    int news;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_stream *stream;
    struct spa_hook core_listener, stream_listener;
    pipewire_video_state state;
    pipewire_video_format format;
    // Counts the times that buffers were taken from us: pictures from before lie in memory that is gone.
    unsigned removals;
    // What the pictures come in, each from its first use to the removal of all.
    struct pw_buffer *buffers[MOST_BUFFERS];
    uint32_t buffer_count;
    // See `pipewire_video_look_for_missed`.
    bool looks_for_missed;
    // The picture that was found last, and the time of the newest that was taken.
    struct pw_buffer *missed;
    int64_t missed_time, newest_time;
    // Of a camera, what it gives.
    bool is_camera;
    pipewire_camera_format camera;
    char problem[256];
};

static void tell(pipewire_video *video) {
    // It fails where nobody has listened for long, and is told already.
    (void)!eventfd_write(video->news, 1);
}

static void end(pipewire_video *video, const char *problem) {
    if (video->state == pipewire_video_ended) return;
    video->state = pipewire_video_ended;
    snprintf(video->problem, sizeof video->problem, "%s", problem);
    tell(video);
}

// MARK: Events

static void on_core_error(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)sequence;
    // Errors of other objects are those of the stream, which tells them itself.
    if (id == PW_ID_CORE) end(data, result == -EPIPE ? "PipeWire ended" : message ? message : spa_strerror(result));
}

static void on_state_changed(
    void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    pipewire_video *video = data;
    if (video->state == pipewire_video_ended) return;
    switch (state) {
    case PW_STREAM_STATE_ERROR: end(video, error ? error : "the stream failed"); break;
    case PW_STREAM_STATE_UNCONNECTED:
        if (old != PW_STREAM_STATE_UNCONNECTED) end(video, "who gave the pictures is gone");
        break;
    case PW_STREAM_STATE_CONNECTING: video->state = pipewire_video_connecting; break;
    case PW_STREAM_STATE_PAUSED: video->state = pipewire_video_paused; break;
    case PW_STREAM_STATE_STREAMING: video->state = pipewire_video_streaming; break;
    }
    tell(video);
}

static bool pixels_of(uint32_t format, pipewire_pixels *pixels) {
    switch (format) {
    case SPA_VIDEO_FORMAT_BGRx:
    case SPA_VIDEO_FORMAT_BGRA: *pixels = pipewire_pixels_bgrx; return true;
    case SPA_VIDEO_FORMAT_RGBx:
    case SPA_VIDEO_FORMAT_RGBA: *pixels = pipewire_pixels_rgbx; return true;
    default: return false;
    }
}

static const struct spa_pod *ask_for_metadata(struct spa_pod_builder *builder, uint32_t type, size_t size) {
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
        SPA_POD_Int((int)size));
}

// Memory that can be mapped: what a graphics card keeps to itself is not asked for.
static const struct spa_pod *ask_for_buffers(struct spa_pod_builder *builder) {
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(4, 2, 16), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd)));
}

static void take_camera_format(pipewire_video *video, const struct spa_pod *param) {
    // Where another program uses the camera too, it is that one's, whatever was offered here.
    if (!camera_parse(param, &video->camera)) {
        end(video, "another program uses it, with pictures that can't be read");
        return;
    }
    video->format = (pipewire_video_format){
        video->format.generation + 1, pipewire_pixels_bgrx, video->camera.width, video->camera.height};
    uint8_t memory[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[3] = {
        ask_for_buffers(&builder), ask_for_metadata(&builder, SPA_META_Header, sizeof(struct spa_meta_header)),
        ask_for_metadata(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform))};
    pw_stream_update_params(video->stream, params, 3);
    tell(video);
}

// Answers a format with the buffers and the metadata that are wanted.
static void on_param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    pipewire_video *video = data;
    if (id != SPA_PARAM_Format || !param) return;
    if (video->is_camera) return take_camera_format(video, param);
    struct spa_video_info_raw raw = {0};
    pipewire_pixels pixels;
    if (!pod_is_sound(param) || spa_format_video_raw_parse(param, &raw) < 0 || !pixels_of(raw.format, &pixels)
        || raw.size.width < 1 || raw.size.height < 1 || raw.size.width > LARGEST_SIDE || raw.size.height > LARGEST_SIDE) {
        end(video, "the pictures have a format that was not asked for");
        return;
    }
    // The same format comes twice when a screen changes its size.
    if (!video->format.generation || video->format.pixels != pixels || video->format.width != raw.size.width
        || video->format.height != raw.size.height)
        video->format = (pipewire_video_format){video->format.generation + 1, pixels, raw.size.width, raw.size.height};

    uint8_t memory[2048];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[6];
    params[0] = ask_for_buffers(&builder);
    params[1] = ask_for_metadata(&builder, SPA_META_Header, sizeof(struct spa_meta_header));
    params[2] = ask_for_metadata(&builder, SPA_META_VideoCrop, sizeof(struct spa_meta_region));
    params[3] = ask_for_metadata(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform));
    params[4] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_VideoDamage),
        SPA_PARAM_META_size,
        SPA_POD_CHOICE_RANGE_Int(
            sizeof(struct spa_meta_region) * MOST_RECTANGLES, sizeof(struct spa_meta_region),
            sizeof(struct spa_meta_region) * MOST_RECTANGLES));
    params[5] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Cursor),
        SPA_PARAM_META_size,
        SPA_POD_CHOICE_RANGE_Int(
            (int)POINTER_BYTES(64), (int)POINTER_BYTES(1), (int)POINTER_BYTES(LARGEST_POINTER)));
    pw_stream_update_params(video->stream, params, 6);
    tell(video);
}

static void on_add_buffer(void *data, struct pw_buffer *buffer) {
    pipewire_video *video = data;
    if (video->buffer_count < MOST_BUFFERS) video->buffers[video->buffer_count++] = buffer;
}

// Those that follow the removal begin in step again.
static void on_remove_buffer(void *data, struct pw_buffer *buffer) {
    (void)buffer;
    pipewire_video *video = data;
    video->removals++;
    video->buffer_count = 0;
    video->missed = NULL;
    video->looks_for_missed = false;
}

// Runs in the thread that moves buffers, beside all else here.
static void on_process(void *data) { tell(data); }

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .error = on_core_error};
static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS, .state_changed = on_state_changed, .param_changed = on_param_changed,
    .add_buffer = on_add_buffer, .remove_buffer = on_remove_buffer, .process = on_process};

// MARK: Connecting

// A screen that takes a highest rate paces itself by it; one that does not know of it has a rate alone.
static const struct spa_pod *format_offer(struct spa_pod_builder *builder, uint32_t rate, bool with_highest_rate) {
    struct spa_pod_frame frame;
    spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(
        builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
        SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
        SPA_POD_CHOICE_ENUM_Id(
            5, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRA, SPA_VIDEO_FORMAT_RGBx,
            SPA_VIDEO_FORMAT_RGBA),
        SPA_FORMAT_VIDEO_size,
        SPA_POD_CHOICE_RANGE_Rectangle(
            &SPA_RECTANGLE(1920, 1080), &SPA_RECTANGLE(1, 1), &SPA_RECTANGLE(LARGEST_SIDE, LARGEST_SIDE)),
        0);
    if (with_highest_rate)
        spa_pod_builder_add(
            builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&SPA_FRACTION(0, 1)), SPA_FORMAT_VIDEO_maxFramerate,
            SPA_POD_CHOICE_RANGE_Fraction(
                &SPA_FRACTION(rate, 1), &SPA_FRACTION(1, 1), &SPA_FRACTION(rate, 1)),
            0);
    else
        spa_pod_builder_add(
            builder, SPA_FORMAT_VIDEO_framerate,
            SPA_POD_CHOICE_RANGE_Fraction(
                &SPA_FRACTION(rate, 1), &SPA_FRACTION(0, 1), &SPA_FRACTION(1000, 1)),
            0);
    return spa_pod_builder_pop(builder, &frame);
}

static const char *start(pipewire_video *video) {
    video->news = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (video->news < 0) return strerror(errno);
    video->loop = pw_thread_loop_new("rtcshare", NULL);
    if (video->loop) video->context = pw_context_new(pw_thread_loop_get_loop(video->loop), NULL, 0);
    if (!video->context || pw_thread_loop_start(video->loop) < 0) return "it can't be started";
    return NULL;
}

// What a stream is to be of: a camera, where there are formats of one, or else a desktop.
typedef struct {
    int descriptor;
    uint32_t node, rate;
    const pipewire_camera_format *formats;
    uint32_t format_count;
} subject;

// So many formats of a camera are offered at most.
#define MOST_OFFERS 32

// The first at its rate, and then all at any, for a camera that another program uses already.
static uint32_t offer_camera(struct spa_pod_builder *builder, const subject *subject, const struct spa_pod **params) {
    uint32_t count = 0;
    params[count++] = camera_offer(builder, &subject->formats[0], false);
    for (uint32_t i = 0; i < subject->format_count && count < MOST_OFFERS; i++)
        params[count++] = camera_offer(builder, &subject->formats[i], true);
    return count;
}

static const char *connect_stream(pipewire_video *video, const subject *subject) {
    // The connection takes the descriptor, whether or not there is one.
    video->core = subject->descriptor >= 0 ? pw_context_connect_fd(video->context, subject->descriptor, NULL, 0)
                                           : pw_context_connect(video->context, NULL, 0);
    if (!video->core) return strerror(errno);
    pw_core_add_listener(video->core, &video->core_listener, &core_events, video);
    video->stream = pw_stream_new(
        video->core, "rtcshare",
        pw_properties_new(
            PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE,
            video->is_camera ? "Camera" : "Screen",
            // A camera that is gone meanwhile is not replaced by another one.
            "node.dont-fallback", "true", NULL));
    if (!video->stream) return strerror(errno);
    pw_stream_add_listener(video->stream, &video->stream_listener, &stream_events, video);
    uint8_t memory[16384];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    const struct spa_pod *params[MOST_OFFERS];
    uint32_t count = 0;
    if (video->is_camera) {
        count = offer_camera(&builder, subject, params);
    } else {
        params[count++] = format_offer(&builder, subject->rate, true);
        params[count++] = format_offer(&builder, subject->rate, false);
    }
    // Once a node is gone, another with its number is another's screen. `on_process` is called at once: left to the loop,
    // it is called by the same thread once the loop has stopped, which then walks the listeners that the end takes down.
    enum pw_stream_flags flags = PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_DONT_RECONNECT
                                 | PW_STREAM_FLAG_RT_PROCESS;
    int result = pw_stream_connect(video->stream, PW_DIRECTION_INPUT, subject->node, flags, params, count);
    return result < 0 ? spa_strerror(result) : NULL;
}

static pipewire_video *connect_video(const subject *subject, char *problem, size_t size) {
    const char *reason = pipewire_library_begin();
    pipewire_video *video = reason ? NULL : calloc(1, sizeof *video);
    if (video) video->is_camera = subject->format_count > 0;
    if (!reason) reason = video ? start(video) : strerror(ENOMEM);
    if (reason) {
        if (subject->descriptor >= 0) close(subject->descriptor);
    } else {
        pipewire_video_lock(video);
        reason = connect_stream(video, subject);
        pipewire_video_unlock(video);
    }
    if (!reason) return video;
    snprintf(problem, size, "%s", reason);
    if (video) pipewire_video_close(video);
    return NULL;
}

pipewire_video *pipewire_video_connect(int descriptor, uint32_t node, uint32_t rate, char *problem, size_t size) {
    return connect_video(&(subject){.descriptor = descriptor, .node = node, .rate = rate}, problem, size);
}

pipewire_video *pipewire_camera_connect(
    int descriptor, uint32_t node, const pipewire_camera_format *formats, uint32_t count, char *problem, size_t size) {
    return connect_video(
        &(subject){.descriptor = descriptor, .node = node, .formats = formats, .format_count = count}, problem, size);
}

void pipewire_video_close(pipewire_video *video) {
    if (video->loop) pw_thread_loop_stop(video->loop);
    if (video->stream) pw_stream_destroy(video->stream);
    if (video->core) pw_core_disconnect(video->core);
    if (video->context) pw_context_destroy(video->context);
    if (video->loop) pw_thread_loop_destroy(video->loop);
    if (video->news >= 0) close(video->news);
    free(video);
}

// MARK: Running

int pipewire_video_descriptor(const pipewire_video *video) { return video->news; }

void pipewire_video_take_note(pipewire_video *video) {
    eventfd_t count;
    (void)!eventfd_read(video->news, &count);
}

void pipewire_video_lock(pipewire_video *video) { pw_thread_loop_lock(video->loop); }
void pipewire_video_unlock(pipewire_video *video) { pw_thread_loop_unlock(video->loop); }
pipewire_video_state pipewire_video_get_state(const pipewire_video *video) { return video->state; }
const char *pipewire_video_problem(const pipewire_video *video) { return video->problem; }
pipewire_video_format pipewire_video_get_format(const pipewire_video *video) { return video->format; }
pipewire_camera_format pipewire_camera_get_format(const pipewire_video *video) { return video->camera; }

void pipewire_video_set_active(pipewire_video *video, bool is_active) {
    if (video->state != pipewire_video_ended) pw_stream_set_active(video->stream, is_active);
}

// MARK: Pictures

// What a node tells of a picture lies in memory that it may change at any time: it is copied once, and the copy is checked.
static void copy_shared(void *target, const void *source, size_t size) {
    memcpy(target, source, size);
    // The compiler reads the source no second time.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static pipewire_rectangle rectangle(const struct spa_region *region) {
    return (pipewire_rectangle){region->position.x, region->position.y, region->size.width, region->size.height};
}

static void read_pixels(pipewire_video *video, struct spa_buffer *buffer, pipewire_picture *picture) {
    if (buffer->n_datas < 1) return;
    const struct spa_data *data = &buffer->datas[0];
    if (!data->data || !data->chunk) return;
    struct spa_chunk chunk;
    copy_shared(&chunk, data->chunk, sizeof chunk);
    // What a node says of its memory need not be true.
    if (!chunk.size || (chunk.flags & SPA_CHUNK_FLAG_CORRUPTED) || chunk.offset > data->maxsize) return;
    uint32_t size = SPA_MIN(chunk.size, data->maxsize - chunk.offset);
    if (video->is_camera) {
        picture->bytes = SPA_PTROFF(data->data, chunk.offset, const uint8_t);
        picture->byte_count = size;
        picture->stride = chunk.stride > 0 ? (uint32_t)chunk.stride : 0;
        return;
    }
    uint32_t last = video->format.width * 4;
    uint32_t stride = chunk.stride > 0 ? (uint32_t)chunk.stride : last;
    if (stride < last) return;
    uint32_t rows = size < last ? 0 : (size - last) / stride + 1;
    picture->rows = SPA_MIN(rows, video->format.height);
    if (!picture->rows) return;
    picture->pixels = SPA_PTROFF(data->data, chunk.offset, const uint8_t);
    picture->stride = stride;
}

static void read_pointer(struct spa_buffer *buffer, pipewire_picture *picture) {
    struct spa_meta *meta = spa_buffer_find_meta(buffer, SPA_META_Cursor);
    if (!meta || meta->size < sizeof(struct spa_meta_cursor)) return;
    struct spa_meta_cursor cursor;
    copy_shared(&cursor, meta->data, sizeof cursor);
    picture->has_pointer = true;
    picture->pointer_is_visible = cursor.id != 0;
    picture->pointer_x = cursor.position.x;
    picture->pointer_y = cursor.position.y;
    uint32_t offset = cursor.bitmap_offset;
    if (!cursor.id || meta->size < sizeof(struct spa_meta_bitmap) || offset < sizeof cursor
        || offset > meta->size - sizeof(struct spa_meta_bitmap))
        return;
    struct spa_meta_bitmap bitmap;
    copy_shared(&bitmap, SPA_PTROFF(meta->data, offset, void), sizeof bitmap);
    picture->has_pointer_shape = true;
    picture->hotspot_x = cursor.hotspot.x;
    picture->hotspot_y = cursor.hotspot.y;
    uint32_t width = bitmap.size.width, height = bitmap.size.height, room = meta->size - offset;
    if (!width || !height || width > LARGEST_POINTER || height > LARGEST_POINTER
        || !pixels_of(bitmap.format, &picture->pointer_format) || bitmap.offset > room)
        return;
    uint32_t stride = bitmap.stride > 0 ? (uint32_t)bitmap.stride : width * 4;
    if (stride < width * 4 || (uint64_t)stride * (height - 1) + width * 4 > room - bitmap.offset) return;
    picture->pointer_pixels = SPA_PTROFF(meta->data, (size_t)offset + bitmap.offset, const uint8_t);
    picture->pointer_width = width;
    picture->pointer_height = height;
    picture->pointer_stride = stride;
}

static struct spa_meta_header header_of(struct spa_buffer *buffer) {
    struct spa_meta_header header = {0};
    const void *told = spa_buffer_find_meta_data(buffer, SPA_META_Header, sizeof header);
    if (told) copy_shared(&header, told, sizeof header);
    return header;
}

static struct pw_buffer *find_missed(pipewire_video *video) {
    video->missed = NULL;
    int64_t newest = video->newest_time;
    for (uint32_t i = 0; i < video->buffer_count; i++) {
        struct spa_meta_header header = header_of(video->buffers[i]->buffer);
        if ((header.flags & SPA_META_HEADER_FLAG_CORRUPTED) || header.pts <= newest) continue;
        newest = video->missed_time = header.pts;
        video->missed = video->buffers[i];
    }
    return video->missed;
}

// The next buffer that PipeWire tells of, without the picture that was found before.
static struct pw_buffer *dequeue(pipewire_video *video) {
    struct pw_buffer *taken = pw_stream_dequeue_buffer(video->stream);
    if (!taken || !video->looks_for_missed || taken != video->missed
        || header_of(taken->buffer).pts != video->missed_time)
        return taken;
    pw_stream_queue_buffer(video->stream, taken);
    return pw_stream_dequeue_buffer(video->stream);
}

bool pipewire_video_take(pipewire_video *video, pipewire_picture *picture) {
    if (video->state == pipewire_video_ended || !video->format.generation) return false;
    struct pw_buffer *taken = dequeue(video);
    bool is_missed = !taken && video->looks_for_missed;
    if (is_missed) taken = find_missed(video);
    if (!taken) return false;
    struct spa_buffer *buffer = taken->buffer;
    *picture = (pipewire_picture){.buffer = taken, .is_missed = is_missed, .removals = video->removals};
    struct spa_meta_header header = header_of(buffer);
    video->newest_time = SPA_MAX(video->newest_time, header.pts);
    bool is_corrupted = header.flags & SPA_META_HEADER_FLAG_CORRUPTED;
    // The changes of a corrupted buffer are lost: the next one does not follow it.
    picture->has_sequence = header.seq != 0 && !is_corrupted;
    picture->sequence = header.seq;
    if (!is_corrupted) read_pixels(video, buffer, picture);
    struct spa_meta_region crop = {0};
    const void *told = spa_buffer_find_meta_data(buffer, SPA_META_VideoCrop, sizeof crop);
    if (told) copy_shared(&crop, told, sizeof crop);
    picture->has_crop = spa_meta_region_is_valid(&crop);
    picture->crop = rectangle(&crop.region);
    const struct spa_meta_videotransform *turn =
        spa_buffer_find_meta_data(buffer, SPA_META_VideoTransform, sizeof *turn);
    if (turn) picture->transform = turn->transform & 7;
    picture->has_damage = pipewire_picture_damage(picture, NULL, 0) > 0;
    read_pointer(buffer, picture);
    return true;
}

void pipewire_video_look_for_missed(pipewire_video *video) { video->looks_for_missed = true; }

bool pipewire_video_has(const pipewire_video *video, const pipewire_picture *picture) {
    return video->state != pipewire_video_ended && picture->removals == video->removals;
}

void pipewire_video_give_back(pipewire_video *video, const pipewire_picture *picture) {
    if (!picture->is_missed && pipewire_video_has(video, picture)) pw_stream_queue_buffer(video->stream, picture->buffer);
}

uint32_t pipewire_picture_damage(
    const pipewire_picture *picture, pipewire_rectangle *rectangles, uint32_t capacity) {
    const struct pw_buffer *taken = picture->buffer;
    struct spa_meta *meta = spa_buffer_find_meta(taken->buffer, SPA_META_VideoDamage);
    uint32_t count = 0;
    if (!meta) return 0;
    const struct spa_meta_region *told;
    spa_meta_for_each(told, meta) {
        struct spa_meta_region region;
        copy_shared(&region, told, sizeof region);
        // The first that is empty ends the list.
        if (!spa_meta_region_is_valid(&region)) break;
        if (count < capacity) rectangles[count] = rectangle(&region.region);
        count++;
    }
    return count;
}
