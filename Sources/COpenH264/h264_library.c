#include "h264_library.h"

#include <optional_library.h>
#include <pthread.h>
#include <stdio.h>
#include <wels/codec_ver.h>

// Encoders and decoders have tables of their own functions.
#define EACH_FUNCTION(X) \
    X(int, WelsCreateSVCEncoder, (ISVCEncoder * *encoder), (encoder)) \
    X(void, WelsDestroySVCEncoder, (ISVCEncoder * encoder), (encoder)) \
    X(long, WelsCreateDecoder, (ISVCDecoder * *decoder), (decoder)) \
    X(void, WelsDestroyDecoder, (ISVCDecoder * decoder), (decoder)) \
    X(void, WelsGetCodecVersionEx, (OpenH264Version * version), (version))

EACH_FUNCTION(DEFINE_OPTIONAL)

static const optional_function functions[] = {EACH_FUNCTION(OPTIONAL_FUNCTION)};

// The number in the name counts the layouts of the structures, of which one is compiled in.
static optional_library library = {
    .file = "libopenh264.so.7",
    .package = "libopenh264-7",
    .functions = functions,
    .count = sizeof functions / sizeof *functions,
};

static char version_words[32];

static void find(void) {
    if (OPENH264_MAJOR != 2 || OPENH264_MINOR != 3) {
        library.problem = "it was built with the headers of another version than libopenh264.so.7";
        return;
    }
    if (optional_library_find(&library)) return;
    OpenH264Version version;
    WelsGetCodecVersionEx(&version);
    snprintf(version_words, sizeof version_words, "%u.%u.%u", version.uMajor, version.uMinor, version.uRevision);
    if (version.uMajor == OPENH264_MAJOR && version.uMinor == OPENH264_MINOR) return;
    snprintf(
        library.words, sizeof library.words, "%s is version %s, not %d.%d", library.file, version_words, OPENH264_MAJOR,
        OPENH264_MINOR);
    library.problem = library.words;
}

const char *h264_library_problem(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return library.problem;
}

const char *h264_library_version(void) {
    h264_library_problem();
    return *version_words ? version_words : NULL;
}
