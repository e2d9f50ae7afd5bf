#include "pipewire_library.h"

#include "pipewire_video.h"

#include <optional_library.h>
#include <pthread.h>

// What the headers have as macros calls an object's own table, and nothing by its name.
#define EACH_FUNCTION(X) \
    X(void, pw_init, (int *argc, char **argv[]), (argc, argv)) \
    X(const char *, pw_get_library_version, (void), ()) \
    X(struct pw_context *, pw_context_new, (struct pw_loop * loop, struct pw_properties *properties, size_t size), \
      (loop, properties, size)) \
    X(void, pw_context_destroy, (struct pw_context * context), (context)) \
    X(struct pw_core *, pw_context_connect, (struct pw_context * context, struct pw_properties *properties, size_t size), \
      (context, properties, size)) \
    X(struct pw_core *, pw_context_connect_fd, \
      (struct pw_context * context, int descriptor, struct pw_properties *properties, size_t size), \
      (context, descriptor, properties, size)) \
    X(int, pw_core_disconnect, (struct pw_core * core), (core)) \
    X(struct pw_loop *, pw_loop_new, (const struct spa_dict *properties), (properties)) \
    X(void, pw_loop_destroy, (struct pw_loop * loop), (loop)) \
    X(struct pw_properties *, pw_properties_new_dict, (const struct spa_dict *entries), (entries)) \
    X(int, pw_properties_set, (struct pw_properties * properties, const char *key, const char *value), \
      (properties, key, value)) \
    X(void, pw_proxy_add_listener, \
      (struct pw_proxy * proxy, struct spa_hook * listener, const struct pw_proxy_events *events, void *told), \
      (proxy, listener, events, told)) \
    X(void, pw_proxy_add_object_listener, \
      (struct pw_proxy * proxy, struct spa_hook * listener, const void *events, void *told), \
      (proxy, listener, events, told)) \
    X(void, pw_proxy_destroy, (struct pw_proxy * proxy), (proxy)) \
    X(struct pw_stream *, pw_stream_new, (struct pw_core * core, const char *name, struct pw_properties *properties), \
      (core, name, properties)) \
    X(void, pw_stream_destroy, (struct pw_stream * stream), (stream)) \
    X(void, pw_stream_add_listener, \
      (struct pw_stream * stream, struct spa_hook * listener, const struct pw_stream_events *events, void *told), \
      (stream, listener, events, told)) \
    X(int, pw_stream_connect, \
      (struct pw_stream * stream, enum pw_direction direction, uint32_t target, enum pw_stream_flags flags, \
       const struct spa_pod **parameters, uint32_t count), \
      (stream, direction, target, flags, parameters, count)) \
    X(int, pw_stream_update_params, (struct pw_stream * stream, const struct spa_pod **parameters, uint32_t count), \
      (stream, parameters, count)) \
    X(int, pw_stream_set_active, (struct pw_stream * stream, bool active), (stream, active)) \
    X(struct pw_buffer *, pw_stream_dequeue_buffer, (struct pw_stream * stream), (stream)) \
    X(int, pw_stream_queue_buffer, (struct pw_stream * stream, struct pw_buffer * buffer), (stream, buffer)) \
    X(struct pw_thread_loop *, pw_thread_loop_new, (const char *name, const struct spa_dict *properties), \
      (name, properties)) \
    X(void, pw_thread_loop_destroy, (struct pw_thread_loop * loop), (loop)) \
    X(struct pw_loop *, pw_thread_loop_get_loop, (struct pw_thread_loop * loop), (loop)) \
    X(int, pw_thread_loop_start, (struct pw_thread_loop * loop), (loop)) \
    X(void, pw_thread_loop_stop, (struct pw_thread_loop * loop), (loop)) \
    X(void, pw_thread_loop_lock, (struct pw_thread_loop * loop), (loop)) \
    X(void, pw_thread_loop_unlock, (struct pw_thread_loop * loop), (loop))

EACH_FUNCTION(DEFINE_OPTIONAL)

// What takes any number of arguments can't go on with them.
__attribute__((visibility("hidden"))) struct pw_properties *pw_properties_new(const char *key, ...) {
    struct pw_properties *properties = pw_properties_new_dict(&SPA_DICT_INIT(NULL, 0));
    va_list arguments;
    va_start(arguments, key);
    for (; key && properties; key = va_arg(arguments, const char *)) {
        pw_properties_set(properties, key, va_arg(arguments, const char *));
    }
    va_end(arguments);
    return properties;
}

static const optional_function functions[] = {EACH_FUNCTION(OPTIONAL_FUNCTION)};

static optional_library library = {
    .file = "libpipewire-0.3.so.0",
    .package = "libpipewire-0.3-0",
    .functions = functions,
    .count = sizeof functions / sizeof *functions,
};

static void find(void) {
    if (!optional_library_find(&library)) pw_init(NULL, NULL);
}

const char *pipewire_library_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return library.problem;
}

const char *pipewire_video_library_version(void) {
    return pipewire_library_begin() ? NULL : pw_get_library_version();
}
