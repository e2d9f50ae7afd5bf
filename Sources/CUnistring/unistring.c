#include "unistring.h"

#include <optional_library.h>
#include <pthread.h>
#include <stdbool.h>

// As uninorm.h declares them: the same in each of the versions, whose names differ.
static const void *form;
static uint8_t *(*normalize)(const void *form, const uint8_t *text, size_t count, uint8_t *buffer, size_t *result_count);

static const optional_function functions[] = {{"uninorm_nfkc", (void **)&form}, {"u8_normalize", (void **)&normalize}};

static bool is_there;

static void find(void) {
    static const char *const files[] = {"libunistring.so.5", "libunistring.so.2"};
    for (size_t i = 0; i < sizeof files / sizeof *files && !is_there; i++) {
        static optional_library library = {
            .package = "libunistring", .functions = functions, .count = sizeof functions / sizeof *functions};
        library.file = files[i];
        is_there = !optional_library_find(&library);
    }
}

uint8_t *unistring_nfkc(const uint8_t *text, size_t count, size_t *result_count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return is_there ? normalize(form, text, count, NULL, result_count) : NULL;
}
