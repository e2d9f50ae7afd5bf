#include "pulse_library.h"

#include <optional_library.h>
#include <pthread.h>

#define EACH_FUNCTION(X) \
    X(pa_context *, pa_context_new, (pa_mainloop_api * api, const char *name), (api, name)) \
    X(int, pa_context_connect, \
      (pa_context * context, const char *server, pa_context_flags_t flags, const pa_spawn_api *api), \
      (context, server, flags, api)) \
    X(void, pa_context_disconnect, (pa_context * context), (context)) \
    X(int, pa_context_errno, (const pa_context *context), (context)) \
    X(pa_context_state_t, pa_context_get_state, (const pa_context *context), (context)) \
    X(void, pa_context_unref, (pa_context * context), (context)) \
    X(pa_operation *, pa_context_get_server_info, (pa_context * context, pa_server_info_cb_t answer, void *told), \
      (context, answer, told)) \
    X(pa_operation *, pa_context_get_sink_info_list, (pa_context * context, pa_sink_info_cb_t answer, void *told), \
      (context, answer, told)) \
    X(pa_operation *, pa_context_get_source_info_list, (pa_context * context, pa_source_info_cb_t answer, void *told), \
      (context, answer, told)) \
    X(void, pa_context_set_subscribe_callback, (pa_context * context, pa_context_subscribe_cb_t answer, void *told), \
      (context, answer, told)) \
    X(pa_operation *, pa_context_subscribe, \
      (pa_context * context, pa_subscription_mask_t mask, pa_context_success_cb_t answer, void *told), \
      (context, mask, answer, told)) \
    X(const char *, pa_get_library_version, (void), ()) \
    X(pa_mainloop *, pa_mainloop_new, (void), ()) \
    X(void, pa_mainloop_free, (pa_mainloop * loop), (loop)) \
    X(pa_mainloop_api *, pa_mainloop_get_api, (pa_mainloop * loop), (loop)) \
    X(int, pa_mainloop_prepare, (pa_mainloop * loop, int timeout), (loop, timeout)) \
    X(int, pa_mainloop_poll, (pa_mainloop * loop), (loop)) \
    X(int, pa_mainloop_dispatch, (pa_mainloop * loop), (loop)) \
    X(void, pa_mainloop_wakeup, (pa_mainloop * loop), (loop)) \
    X(void, pa_operation_cancel, (pa_operation * operation), (operation)) \
    X(pa_operation_state_t, pa_operation_get_state, (const pa_operation *operation), (operation)) \
    X(void, pa_operation_unref, (pa_operation * operation), (operation)) \
    X(pa_stream *, pa_stream_new, \
      (pa_context * context, const char *name, const pa_sample_spec *format, const pa_channel_map *map), \
      (context, name, format, map)) \
    X(int, pa_stream_connect_playback, \
      (pa_stream * stream, const char *device, const pa_buffer_attr *attributes, pa_stream_flags_t flags, \
       const pa_cvolume *volume, pa_stream *master), \
      (stream, device, attributes, flags, volume, master)) \
    X(int, pa_stream_connect_record, \
      (pa_stream * stream, const char *device, const pa_buffer_attr *attributes, pa_stream_flags_t flags), \
      (stream, device, attributes, flags)) \
    X(int, pa_stream_disconnect, (pa_stream * stream), (stream)) \
    X(int, pa_stream_drop, (pa_stream * stream), (stream)) \
    X(pa_operation *, pa_stream_flush, (pa_stream * stream, pa_stream_success_cb_t answer, void *told), \
      (stream, answer, told)) \
    X(const char *, pa_stream_get_device_name, (const pa_stream *stream), (stream)) \
    X(int, pa_stream_get_latency, (pa_stream * stream, pa_usec_t *latency, int *negative), (stream, latency, negative)) \
    X(pa_stream_state_t, pa_stream_get_state, (const pa_stream *stream), (stream)) \
    X(const pa_timing_info *, pa_stream_get_timing_info, (pa_stream * stream), (stream)) \
    X(int, pa_stream_peek, (pa_stream * stream, const void **data, size_t *size), (stream, data, size)) \
    X(size_t, pa_stream_readable_size, (const pa_stream *stream), (stream)) \
    X(void, pa_stream_set_latency_update_callback, (pa_stream * stream, pa_stream_notify_cb_t answer, void *told), \
      (stream, answer, told)) \
    X(void, pa_stream_set_moved_callback, (pa_stream * stream, pa_stream_notify_cb_t answer, void *told), \
      (stream, answer, told)) \
    X(void, pa_stream_set_underflow_callback, (pa_stream * stream, pa_stream_notify_cb_t answer, void *told), \
      (stream, answer, told)) \
    X(void, pa_stream_unref, (pa_stream * stream), (stream)) \
    X(pa_operation *, pa_stream_update_timing_info, \
      (pa_stream * stream, pa_stream_success_cb_t answer, void *told), (stream, answer, told)) \
    X(int, pa_stream_write, \
      (pa_stream * stream, const void *data, size_t size, pa_free_cb_t release, int64_t offset, pa_seek_mode_t seek), \
      (stream, data, size, release, offset, seek)) \
    X(const char *, pa_strerror, (int error), (error))

EACH_FUNCTION(DEFINE_OPTIONAL)

static const optional_function functions[] = {EACH_FUNCTION(OPTIONAL_FUNCTION)};

static optional_library library = {
    .file = "libpulse.so.0",
    .package = "libpulse0",
    .functions = functions,
    .count = sizeof functions / sizeof *functions,
};

static void find(void) { optional_library_find(&library); }

const char *pulse_library_problem(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return library.problem;
}
