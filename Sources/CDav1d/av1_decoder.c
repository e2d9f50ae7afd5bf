#include "av1_decoder.h"

// Otherwise it declares its functions as visible to others.
#define DAV1D_API
#include <dav1d/dav1d.h>
#include <optional_library.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EACH_FUNCTION(X) \
    X(void, dav1d_close, (Dav1dContext * *context), (context)) \
    X(uint8_t *, dav1d_data_create, (Dav1dData * data, size_t count), (data, count)) \
    X(void, dav1d_data_unref, (Dav1dData * data), (data)) \
    X(void, dav1d_default_settings, (Dav1dSettings * settings), (settings)) \
    X(void, dav1d_flush, (Dav1dContext * context), (context)) \
    X(int, dav1d_get_picture, (Dav1dContext * context, Dav1dPicture *picture), (context, picture)) \
    X(int, dav1d_open, (Dav1dContext * *context, const Dav1dSettings *settings), (context, settings)) \
    X(void, dav1d_picture_unref, (Dav1dPicture * picture), (picture)) \
    X(int, dav1d_send_data, (Dav1dContext * context, Dav1dData *data), (context, data)) \
    X(const char *, dav1d_version, (void), ())

EACH_FUNCTION(DEFINE_OPTIONAL)

static const optional_function functions[] = {EACH_FUNCTION(OPTIONAL_FUNCTION)};

// The number in the name counts the layouts of the structures, of which one is compiled in.
static optional_library library = {
    .file = "libdav1d.so.6",
    .package = "libdav1d6",
    .functions = functions,
    .count = sizeof functions / sizeof *functions,
};

static void find(void) {
    if (DAV1D_API_VERSION_MAJOR != 6) {
        library.problem = "it was built with the headers of another version than libdav1d.so.6";
        return;
    }
    optional_library_find(&library);
}

const char *av1_decoder_library_problem(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return library.problem;
}

const char *av1_decoder_library_version(void) { return av1_decoder_library_problem() ? NULL : dav1d_version(); }

struct av1_decoder {
    Dav1dContext *context;
    Dav1dPicture picture;
    bool has_picture;
};

static void release(av1_decoder *decoder) {
    if (decoder->has_picture) dav1d_picture_unref(&decoder->picture);
    decoder->has_picture = false;
}

av1_decoder *av1_decoder_open(uint32_t most_pixels) {
    av1_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    Dav1dSettings settings;
    dav1d_default_settings(&settings);
    // One thread, so that each frame is returned by the call that decodes it.
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.all_layers = 0;
    settings.frame_size_limit = most_pixels;
    settings.logger.callback = NULL;
    if (!dav1d_open(&decoder->context, &settings)) return decoder;
    free(decoder);
    return NULL;
}

void av1_decoder_close(av1_decoder *decoder) {
    release(decoder);
    dav1d_close(&decoder->context);
    free(decoder);
}

// Takes the frames that are ready and keeps the last one. Returns an error, or 0.
static int take_pictures(av1_decoder *decoder) {
    int error;
    Dav1dPicture picture = {0};
    while (!(error = dav1d_get_picture(decoder->context, &picture))) {
        release(decoder);
        decoder->picture = picture;
        decoder->has_picture = true;
        picture = (Dav1dPicture){0};
    }
    return error == DAV1D_ERR(EAGAIN) ? 0 : error;
}

static int decode(av1_decoder *decoder, const uint8_t *bytes, size_t count) {
    Dav1dData data = {0};
    // A copy, since parts of a frame that has no end would refer to it later.
    uint8_t *copy = dav1d_data_create(&data, count);
    if (!copy) return DAV1D_ERR(ENOMEM);
    memcpy(copy, bytes, count);
    int error = 0;
    while (!error && data.sz) {
        const size_t left = data.sz;
        error = dav1d_send_data(decoder->context, &data);
        if (error && error != DAV1D_ERR(EAGAIN)) break;
        error = take_pictures(decoder);
        if (!error && data.sz == left) error = DAV1D_ERR(EINVAL);
    }
    if (data.sz) dav1d_data_unref(&data);
    return error;
}

int av1_decoder_decode(av1_decoder *decoder, const uint8_t *bytes, size_t count, av1_decoder_picture *picture) {
    *picture = (av1_decoder_picture){0};
    release(decoder);
    const int error = decode(decoder, bytes, count);
    if (error) {
        release(decoder);
        dav1d_flush(decoder->context);
        return error;
    }
    if (!decoder->has_picture) return 0;
    const Dav1dPicture *shown = &decoder->picture;
    *picture = (av1_decoder_picture){
        .luma = shown->data[0],
        .blue = shown->data[1],
        .red = shown->data[2],
        .luma_stride = shown->stride[0],
        .chroma_stride = shown->stride[1],
        .width = shown->p.w,
        .height = shown->p.h,
        .is_i420 = shown->p.layout == DAV1D_PIXEL_LAYOUT_I420 && shown->p.bpc == 8,
        .quantizer_index = shown->frame_hdr->quant.yac,
    };
    return 0;
}
