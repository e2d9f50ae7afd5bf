#include "h264_library.h"

#include <stdlib.h>

struct h264_decoder {
    ISVCDecoder *decoder;
};

h264_decoder *h264_decoder_open(void) {
    h264_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    if (WelsCreateDecoder(&decoder->decoder) || !decoder->decoder) {
        free(decoder);
        return NULL;
    }
    ISVCDecoder *h264 = decoder->decoder;
    // Before all else: it writes to the program's standard error otherwise.
    int silent = WELS_LOG_QUIET;
    (*h264)->SetOption(h264, DECODER_OPTION_TRACE_LEVEL, &silent);
    const SDecodingParam parameters = {
        // Without concealment, so that an error is an error.
        .eEcActiveIdc = ERROR_CON_DISABLE,
        .sVideoProperty = {.size = sizeof parameters.sVideoProperty, .eVideoBsType = VIDEO_BITSTREAM_AVC},
    };
    if (!(*h264)->Initialize(h264, &parameters)) return decoder;
    h264_decoder_close(decoder);
    return NULL;
}

void h264_decoder_close(h264_decoder *decoder) {
    (*decoder->decoder)->Uninitialize(decoder->decoder);
    WelsDestroyDecoder(decoder->decoder);
    free(decoder);
}

int h264_decoder_decode(
    h264_decoder *decoder, const uint8_t *bytes, int32_t count, h264_decoder_picture *picture) {
    *picture = (h264_decoder_picture){0};
    ISVCDecoder *h264 = decoder->decoder;
    uint8_t *planes[3] = {0};
    SBufferInfo info = {0};
    const int state = (*h264)->DecodeFrameNoDelay(h264, bytes, count, planes, &info);
    if (info.iBufferStatus != 1 || !planes[0] || !planes[1] || !planes[2]) return state;
    const SSysMEMBuffer *shown = &info.UsrData.sSystemBuffer;
    *picture = (h264_decoder_picture){
        planes[0],         planes[1],     planes[2],      shown->iStride[0],
        shown->iStride[1], shown->iWidth, shown->iHeight,
    };
    return state;
}
