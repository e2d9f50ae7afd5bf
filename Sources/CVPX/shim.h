#pragma once
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

// libvpx's initializers are macros that carry the ABI's version, its controls are variadic: neither reaches Swift.

static inline vpx_codec_err_t cvpx_enc_init(vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *config) {
    return vpx_codec_enc_init(context, vpx_codec_vp8_cx(), config, 0);
}

static inline vpx_codec_err_t cvpx_dec_init(vpx_codec_ctx_t *context, const vpx_codec_dec_cfg_t *config) {
    return vpx_codec_dec_init(context, vpx_codec_vp8_dx(), config, 0);
}

static inline vpx_codec_err_t cvpx_control_int(vpx_codec_ctx_t *context, int control, int value) {
    return vpx_codec_control_(context, control, value);
}

static inline vpx_codec_err_t cvpx_control_get_int(vpx_codec_ctx_t *context, int control, int *value) {
    return vpx_codec_control_(context, control, value);
}

static inline vpx_codec_err_t cvpx_set_active_map(vpx_codec_ctx_t *context, vpx_active_map_t *map) {
    return vpx_codec_control_(context, VP8E_SET_ACTIVEMAP, map);
}

static inline vpx_codec_err_t cvpx_reference(
    vpx_codec_ctx_t *context, int control, vpx_ref_frame_type_t type, vpx_image_t image) {
    vpx_ref_frame_t frame;
    frame.frame_type = type;
    frame.img = image;
    return vpx_codec_control_(context, control, &frame);
}

static inline void cvpx_set_plane(vpx_image_t *image, int plane, const unsigned char *first, int stride) {
    // The encoder only reads its input; the structure is shared with the decoder, which writes.
    image->planes[plane] = (unsigned char *)first;
    image->stride[plane] = stride;
}
