#include "h264_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct h264_encoder {
    ISVCEncoder *encoder;
    SEncParamExt parameters;
    long long frames;
    // The NAL units of a frame, which OpenH264 has in several places.
    uint8_t *bytes;
    size_t capacity;
};

#define FRAMES_PER_SECOND 30

// A constant quantizer per frame, without rate control: with it, OpenH264 ignores the limits of the quantizer for frames
// of a screen, or drops frames.
static void fill(SEncParamExt *parameters, const h264_encoder_settings *settings) {
    parameters->iUsageType = settings->is_screen ? SCREEN_CONTENT_REAL_TIME : CAMERA_VIDEO_REAL_TIME;
    parameters->iPicWidth = (int)settings->width;
    parameters->iPicHeight = (int)settings->height;
    parameters->iRCMode = RC_OFF_MODE;
    parameters->iTargetBitrate = 1500000;
    parameters->iMaxBitrate = UNSPECIFIED_BIT_RATE;
    parameters->fMaxFrameRate = FRAMES_PER_SECOND;
    parameters->iMinQp = 0;
    parameters->iMaxQp = 51;
    parameters->bEnableFrameSkip = false;
    parameters->uiIntraPeriod = 0;
    parameters->iMultipleThreadIdc = 1;
    parameters->iSpatialLayerNum = 1;
    parameters->iTemporalLayerNum = 1;
    parameters->iNumRefFrame = 1;
    parameters->eSpsPpsIdStrategy = CONSTANT_ID;
    parameters->bPrefixNalAddingCtrl = false;
    parameters->iEntropyCodingModeFlag = 0;
    parameters->bEnableLongTermReference = false;
    parameters->bEnableDenoise = false;
    parameters->bEnableAdaptiveQuant = false;
    parameters->bEnableBackgroundDetection = false;
    // The loop filter is off for quantizers up to 27, and as weak as possible for coarser ones. It smears strokes near the
    // edges of macroblocks: 5 to 11 dB with a page of text.
    if (settings->is_screen) parameters->iLoopFilterAlphaC0Offset = parameters->iLoopFilterBetaOffset = -6;
    SSpatialLayerConfig *layer = &parameters->sSpatialLayers[0];
    layer->iVideoWidth = parameters->iPicWidth;
    layer->iVideoHeight = parameters->iPicHeight;
    layer->fFrameRate = FRAMES_PER_SECOND;
    layer->iSpatialBitrate = parameters->iTargetBitrate;
    layer->iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
    // Written as constrained baseline; the level follows from the size.
    layer->uiProfileIdc = PRO_BASELINE;
    layer->uiLevelIdc = LEVEL_UNKNOWN;
    layer->iDLayerQp = 30;
    layer->sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
    // BT.601, limited range: without it, viewers take large frames for BT.709.
    layer->bVideoSignalTypePresent = true;
    layer->uiVideoFormat = VF_UNDEF;
    layer->bFullRange = false;
    layer->bColorDescriptionPresent = true;
    layer->uiColorPrimaries = CP_SMPTE170M;
    layer->uiTransferCharacteristics = TRC_SMPTE170M;
    layer->uiColorMatrix = CM_SMPTE170M;
}

h264_encoder *h264_encoder_open(const h264_encoder_settings *settings, char *problem, size_t size) {
    h264_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder || WelsCreateSVCEncoder(&encoder->encoder) || !encoder->encoder) {
        snprintf(problem, size, "out of memory");
        free(encoder);
        return NULL;
    }
    ISVCEncoder *h264 = encoder->encoder;
    // Before all else: it writes to the program's standard error otherwise.
    int silent = WELS_LOG_QUIET;
    (*h264)->SetOption(h264, ENCODER_OPTION_TRACE_LEVEL, &silent);
    (*h264)->GetDefaultParams(h264, &encoder->parameters);
    fill(&encoder->parameters, settings);
    const int error = (*h264)->InitializeExt(h264, &encoder->parameters);
    if (!error) {
        int format = videoFormatI420;
        (*h264)->SetOption(h264, ENCODER_OPTION_DATAFORMAT, &format);
        return encoder;
    }
    snprintf(problem, size, "its settings were refused with the code %d", error);
    h264_encoder_close(encoder);
    return NULL;
}

void h264_encoder_close(h264_encoder *encoder) {
    (*encoder->encoder)->Uninitialize(encoder->encoder);
    WelsDestroySVCEncoder(encoder->encoder);
    free(encoder->bytes);
    free(encoder);
}

static bool append(h264_encoder *encoder, size_t *count, const SLayerBSInfo *layer) {
    size_t added = 0;
    for (int i = 0; i < layer->iNalCount; i++) added += (size_t)layer->pNalLengthInByte[i];
    if (*count + added > encoder->capacity) {
        const size_t capacity = (*count + added) * 3 / 2;
        uint8_t *bytes = realloc(encoder->bytes, capacity);
        if (!bytes) return false;
        encoder->bytes = bytes;
        encoder->capacity = capacity;
    }
    if (added) memcpy(encoder->bytes + *count, layer->pBsBuf, added);
    *count += added;
    return true;
}

const char *h264_encoder_encode(
    h264_encoder *encoder, const h264_encoder_source *source, uint32_t quantizer, bool as_key,
    h264_encoder_frame *frame) {
    *frame = (h264_encoder_frame){0};
    ISVCEncoder *h264 = encoder->encoder;
    SEncParamExt *parameters = &encoder->parameters;
    const int limited = quantizer > 51 ? 51 : (int)quantizer;
    if (limited != parameters->sSpatialLayers[0].iDLayerQp) {
        parameters->sSpatialLayers[0].iDLayerQp = limited;
        if ((*h264)->SetOption(h264, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, parameters)) return "it refused a quantizer";
    }
    if (as_key) (*h264)->ForceIntraFrame(h264, true);
    // The encoder only reads its input.
    const SSourcePicture picture = {
        .iColorFormat = videoFormatI420,
        .iStride = {source->luma_stride, source->blue_stride, source->red_stride},
        .pData = {(uint8_t *)source->luma, (uint8_t *)source->blue, (uint8_t *)source->red},
        .iPicWidth = parameters->iPicWidth,
        .iPicHeight = parameters->iPicHeight,
        .uiTimeStamp = encoder->frames++ * 1000 / FRAMES_PER_SECOND,
    };
    SFrameBSInfo coded = {0};
    if ((*h264)->EncodeFrame(h264, &picture, &coded)) return "it refused a frame";
    if (coded.eFrameType == videoFrameTypeSkip) return NULL;
    if (coded.eFrameType == videoFrameTypeInvalid) return "it is not ready for frames";
    size_t count = 0;
    for (int i = 0; i < coded.iLayerNum; i++)
        if (!append(encoder, &count, &coded.sLayerInfo[i])) return "out of memory";
    if (!count) return NULL;
    *frame = (h264_encoder_frame){encoder->bytes, count, coded.eFrameType == videoFrameTypeIDR};
    return NULL;
}
