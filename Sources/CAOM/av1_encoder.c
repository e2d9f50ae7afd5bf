#include "av1_encoder.h"

#include <aom/aom_encoder.h>
#include <aom/aomcx.h>
#include <optional_library.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define EACH_FUNCTION(X) \
    X(aom_codec_iface_t *, aom_codec_av1_cx, (void), ()) \
    X(aom_codec_err_t, aom_codec_destroy, (aom_codec_ctx_t * context), (context)) \
    X(aom_codec_err_t, aom_codec_enc_config_default, \
      (aom_codec_iface_t * codec, aom_codec_enc_cfg_t *config, unsigned usage), (codec, config, usage)) \
    X(aom_codec_err_t, aom_codec_enc_config_set, (aom_codec_ctx_t * context, const aom_codec_enc_cfg_t *config), \
      (context, config)) \
    X(aom_codec_err_t, aom_codec_enc_init_ver, \
      (aom_codec_ctx_t * context, aom_codec_iface_t *codec, const aom_codec_enc_cfg_t *config, \
       aom_codec_flags_t flags, int version), \
      (context, codec, config, flags, version)) \
    X(aom_codec_err_t, aom_codec_encode, \
      (aom_codec_ctx_t * context, const aom_image_t *image, aom_codec_pts_t time, unsigned long duration, \
       aom_enc_frame_flags_t flags), \
      (context, image, time, duration, flags)) \
    X(const char *, aom_codec_err_to_string, (aom_codec_err_t error), (error)) \
    X(const aom_codec_cx_pkt_t *, aom_codec_get_cx_data, (aom_codec_ctx_t * context, aom_codec_iter_t *iterator), \
      (context, iterator)) \
    X(const char *, aom_codec_version_str, (void), ()) \
    X(aom_image_t *, aom_img_wrap, \
      (aom_image_t * image, aom_img_fmt_t format, unsigned width, unsigned height, unsigned align, \
       unsigned char *samples), \
      (image, format, width, height, align, samples))

EACH_FUNCTION(DEFINE_OPTIONAL)

// Its arguments vary in number, so it can't be defined like the others: only its pointer is called, by the functions
// below with one type each.
static aom_codec_err_t (*aom_codec_control_of_library)(aom_codec_ctx_t *context, int control, ...);
// Headers differ in whether its context is constant.
static const char *(*aom_codec_error_detail_of_library)(const aom_codec_ctx_t *context);

static const optional_function functions[] = {
    EACH_FUNCTION(OPTIONAL_FUNCTION){"aom_codec_control", (void **)&aom_codec_control_of_library},
    {"aom_codec_error_detail", (void **)&aom_codec_error_detail_of_library},
};

static optional_library library = {
    .file = "libaom.so.3",
    .package = "libaom3",
    .functions = functions,
    .count = sizeof functions / sizeof *functions,
};

static bool is_loaded;

static void find(void) {
    is_loaded = !optional_library_find(&library);
    // Without a context this only compares the numbers of the interfaces.
    if (is_loaded && aom_codec_enc_init_ver(NULL, NULL, NULL, 0, AOM_ENCODER_ABI_VERSION) == AOM_CODEC_ABI_MISMATCH) {
        snprintf(
            library.words, sizeof library.words, "%s %s has another interface than version 3.6", library.file,
            aom_codec_version_str());
        library.problem = library.words;
    }
}

const char *av1_encoder_library_problem(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return library.problem;
}

const char *av1_encoder_library_version(void) {
    av1_encoder_library_problem();
    return is_loaded ? aom_codec_version_str() : NULL;
}

struct av1_encoder {
    aom_codec_ctx_t context;
    aom_codec_enc_cfg_t config;
    aom_codec_pts_t time;
    int speed;
    bool is_screen;
    bool searches_palettes;
    // The slot of the last frame, of the two in use. The other one holds a frame that was kept.
    unsigned slot;
    // Whether both slots hold the last frame, in the same memory.
    bool shares_memory;
    // Whether the last frame was replaced by one whose probabilities are not those that libaom has.
    bool has_other_reference;
    // The number of frames since the last key frame, that one excluded.
    unsigned frames_since_key;
    char problem[256];
};

// One tick per frame, since libaom refuses times of more than 32 bits. The quantizer is given, so the true times would
// have no effect but on libaom's rate control, whose state is not used.
#define TICKS_PER_SECOND 30
#define TICKS_PER_FRAME 1

static aom_codec_err_t set(av1_encoder *encoder, int control, int value) {
    return aom_codec_control_of_library(&encoder->context, control, value);
}

static aom_codec_err_t get(av1_encoder *encoder, int control, int32_t *value) {
    return aom_codec_control_of_library(&encoder->context, control, value);
}

static const char *explain(av1_encoder *encoder, aom_codec_err_t error) {
    const char *detail = aom_codec_error_detail_of_library(&encoder->context);
    snprintf(
        encoder->problem, sizeof encoder->problem, "%s%s%s", aom_codec_err_to_string(error), detail ? ": " : "",
        detail ? detail : "");
    return encoder->problem;
}

// The places of reference frames in a configuration of them.
enum { LAST = 0, GOLDEN = 3 };

// The slots in use. libaom decides by itself whether a frame refreshes slot 0, which it takes for that of its golden frame
// (`gld_idx_1layer` in av1_adjust_gf_refresh_qp_one_pass_rt).
enum { FIRST_SLOT = 1, LAST_SLOT = 2 };

// The speeds of libaom (AOME_SET_CPUUSED): its fastest one, and the fastest one that codes blocks whose source is as good as
// that of the last frame (`set_zeromv_skip_based_on_source_sad` in speed_features.c).
enum { FASTEST = 10, REFINING = 9 };

// The values that need the fewest bits and the least time for pages of text, of those at which both were measured. Most
// tools for natural images cost time and gain nothing at this speed.
static aom_codec_err_t set_controls(av1_encoder *encoder, const av1_encoder_settings *settings) {
    const struct {
        int control, value;
    } controls[] = {
        {AOME_SET_CPUUSED, FASTEST},
        {AV1E_SET_TUNE_CONTENT, settings->is_screen ? AOM_CONTENT_SCREEN : AOM_CONTENT_DEFAULT},
        {AV1E_SET_ENABLE_PALETTE, settings->is_screen},
        {AV1E_SET_ENABLE_INTRABC, 0},
        {AV1E_SET_SUPERBLOCK_SIZE, AOM_SUPERBLOCK_SIZE_64X64},
        {AV1E_SET_AQ_MODE, 0},
        {AV1E_SET_TILE_COLUMNS, settings->threads > 1},
        {AV1E_SET_ROW_MT, settings->threads > 1},
        {AV1E_SET_ENABLE_CDEF, 1},
        {AV1E_SET_ENABLE_RESTORATION, 0},
        {AV1E_SET_ENABLE_ORDER_HINT, 0},
        {AV1E_SET_CDF_UPDATE_MODE, 1},
        {AV1E_SET_MAX_REFERENCE_FRAMES, 3},
        {AV1E_SET_COEFF_COST_UPD_FREQ, 3},
        {AV1E_SET_MODE_COST_UPD_FREQ, 3},
        {AV1E_SET_MV_COST_UPD_FREQ, 3},
        {AV1E_SET_ENABLE_TPL_MODEL, 0},
        {AV1E_SET_DELTAQ_MODE, 0},
        {AV1E_SET_NOISE_SENSITIVITY, 0},
        {AV1E_SET_ENABLE_OBMC, 0},
        {AV1E_SET_ENABLE_WARPED_MOTION, 0},
        {AV1E_SET_ENABLE_GLOBAL_MOTION, 0},
        {AV1E_SET_ENABLE_REF_FRAME_MVS, 0},
        {AV1E_SET_ENABLE_DIRECTIONAL_INTRA, 0},
        {AV1E_SET_ENABLE_CFL_INTRA, 0},
        {AV1E_SET_ENABLE_SMOOTH_INTRA, 0},
        {AV1E_SET_ENABLE_ANGLE_DELTA, 0},
        {AV1E_SET_ENABLE_FILTER_INTRA, 0},
        {AV1E_SET_ENABLE_PAETH_INTRA, 0},
        {AV1E_SET_ENABLE_INTRA_EDGE_FILTER, 0},
        {AV1E_SET_INTRA_DEFAULT_TX_ONLY, 1},
        {AV1E_SET_DISABLE_TRELLIS_QUANT, 1},
        {AV1E_SET_ENABLE_DIST_WTD_COMP, 0},
        {AV1E_SET_ENABLE_DIFF_WTD_COMP, 0},
        {AV1E_SET_ENABLE_MASKED_COMP, 0},
        {AV1E_SET_ENABLE_INTERINTRA_COMP, 0},
        {AV1E_SET_ENABLE_INTERINTRA_WEDGE, 0},
        {AV1E_SET_ENABLE_SMOOTH_INTERINTRA, 0},
        {AV1E_SET_ENABLE_DUAL_FILTER, 0},
        {AV1E_SET_ENABLE_QM, 0},
        {AV1E_SET_ENABLE_RECT_PARTITIONS, 0},
        {AV1E_SET_ENABLE_TX64, 0},
        // BT.601, limited range: without it, viewers take large frames for BT.709.
        {AV1E_SET_COLOR_PRIMARIES, AOM_CICP_CP_BT_601},
        {AV1E_SET_TRANSFER_CHARACTERISTICS, AOM_CICP_TC_BT_601},
        {AV1E_SET_MATRIX_COEFFICIENTS, AOM_CICP_MC_BT_601},
        {AV1E_SET_COLOR_RANGE, AOM_CR_STUDIO_RANGE},
    };
    aom_codec_err_t error = AOM_CODEC_OK;
    for (size_t i = 0; i < sizeof controls / sizeof *controls && !error; i++)
        error = set(encoder, controls[i].control, controls[i].value);
    return error;
}

av1_encoder *av1_encoder_open(const av1_encoder_settings *settings, char *problem, size_t size) {
    av1_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    aom_codec_iface_t *codec = aom_codec_av1_cx();
    aom_codec_enc_cfg_t *config = &encoder->config;
    aom_codec_err_t error = aom_codec_enc_config_default(codec, config, AOM_USAGE_REALTIME);
    config->g_w = settings->width;
    config->g_h = settings->height;
    config->g_threads = settings->threads;
    config->g_timebase = (aom_rational_t){1, TICKS_PER_SECOND};
    config->g_pass = AOM_RC_ONE_PASS;
    config->g_lag_in_frames = 0;
    config->g_error_resilient = 0;
    config->kf_mode = AOM_KF_DISABLED;
    // A constant quantizer per frame: both limits are set for each.
    config->rc_end_usage = AOM_CBR;
    config->rc_min_quantizer = config->rc_max_quantizer = 30;
    config->rc_target_bitrate = 1500;
    config->rc_undershoot_pct = config->rc_overshoot_pct = 50;
    config->rc_buf_initial_sz = config->rc_buf_optimal_sz = 600;
    config->rc_buf_sz = 1000;
    if (!error) error = aom_codec_enc_init_ver(&encoder->context, codec, config, 0, AOM_ENCODER_ABI_VERSION);
    if (!error) error = set_controls(encoder, settings);
    encoder->speed = FASTEST;
    encoder->is_screen = encoder->searches_palettes = settings->is_screen;
    encoder->slot = FIRST_SLOT;
    if (!error) return encoder;
    snprintf(problem, size, "%s", explain(encoder, error));
    av1_encoder_close(encoder);
    return NULL;
}

void av1_encoder_close(av1_encoder *encoder) {
    // For a context that was never opened, this only returns an error.
    aom_codec_destroy(&encoder->context);
    free(encoder);
}

// Debian builds libaom with its assertions, and one that fails ends the process. rc_pick_q_and_bounds (ratectrl.c) asserts
// `q <= rc->worst_quality && q >= rc->best_quality`, and its frames 10 to 15 after a key frame have a quantizer index of
// at least 5, which is that of 2 here. Frames from the 18th on were encoded with 1 in many thousand random sequences. 0
// is not used at all: it is lossless coding, which libaom can't begin after a lossy frame.
static unsigned usable_quantizer(const av1_encoder *encoder, unsigned quantizer, bool as_key) {
    const unsigned finest = !as_key && encoder->frames_since_key + 1 >= 18 ? 1 : 2;
    return quantizer < finest ? finest : quantizer > 63 ? 63 : quantizer;
}

static aom_image_t *wrap(const av1_encoder *encoder, aom_image_t *image, const av1_encoder_source *source) {
    // libaom only reads it; the structure is shared with the decoder, which writes.
    if (!aom_img_wrap(
            image, AOM_IMG_FMT_I420, encoder->config.g_w, encoder->config.g_h, 1, (uint8_t *)source->luma))
        return NULL;
    image->planes[AOM_PLANE_U] = (uint8_t *)source->blue;
    image->planes[AOM_PLANE_V] = (uint8_t *)source->red;
    image->stride[AOM_PLANE_Y] = source->luma_stride;
    image->stride[AOM_PLANE_U] = source->blue_stride;
    image->stride[AOM_PLANE_V] = source->red_stride;
    return image;
}

const char *av1_encoder_replace_reference(av1_encoder *encoder, const av1_encoder_source *source) {
    av1_ref_frame_t reference = {.idx = (int)encoder->slot};
    if (!wrap(encoder, &reference.img, source)) return "it takes no frame of this size";
    // libaom's own frames have whole units of 8 by 8 pixels, and it asserts that this one has the same size.
    reference.img.w = (encoder->config.g_w + 7) & ~7u;
    reference.img.h = (encoder->config.g_h + 7) & ~7u;
    const aom_codec_err_t error = aom_codec_control_of_library(&encoder->context, AV1_SET_REFERENCE, &reference);
    return error ? explain(encoder, error) : NULL;
}

static unsigned target_slot(const av1_encoder *encoder, bool keeps_last) {
    return keeps_last ? FIRST_SLOT + LAST_SLOT - encoder->slot : encoder->slot;
}

av1_encoder_reference av1_encoder_last_reference(const av1_encoder *encoder, bool keeps_last) {
    const unsigned target = target_slot(encoder, keeps_last);
    const uint8_t slots = !encoder->shares_memory ? (uint8_t)(1u << target) : keeps_last ? 0 : 0xFF;
    return (av1_encoder_reference){.slot = encoder->slot, .target = target, .slots = slots};
}

void av1_encoder_did_replace(av1_encoder *encoder, uint32_t target) {
    encoder->slot = target;
    encoder->has_other_reference = true;
}

static aom_codec_err_t search_palettes(av1_encoder *encoder, bool searches) {
    if (searches == encoder->searches_palettes) return AOM_CODEC_OK;
    encoder->searches_palettes = searches;
    return set(encoder, AV1E_SET_ENABLE_PALETTE, searches);
}

const char *av1_encoder_encode(
    av1_encoder *encoder, const av1_encoder_source *source, uint32_t quantizer, bool as_key, bool keeps_last,
    bool refines, bool is_natural, av1_encoder_frame *frame) {
    *frame = (av1_encoder_frame){0};
    aom_codec_enc_cfg_t *config = &encoder->config;
    quantizer = usable_quantizer(encoder, quantizer, as_key || !encoder->time);
    if (quantizer != config->rc_min_quantizer) {
        config->rc_min_quantizer = config->rc_max_quantizer = quantizer;
        const aom_codec_err_t error = aom_codec_enc_config_set(&encoder->context, config);
        if (error) return explain(encoder, error);
    }
    const int speed = refines ? REFINING : FASTEST;
    if (speed != encoder->speed) {
        const aom_codec_err_t error = set(encoder, AOME_SET_CPUUSED, speed);
        if (error) return explain(encoder, error);
        encoder->speed = speed;
    }
    aom_codec_err_t error = search_palettes(encoder, encoder->is_screen && !is_natural);
    if (error) return explain(encoder, error);
    aom_image_t image;
    if (!wrap(encoder, &image, source)) return "it takes no frame of this size";
    // Two reference frames in known slots: a frame that is not libaom's can replace the last one.
    const unsigned other = target_slot(encoder, true), target = target_slot(encoder, keeps_last);
    aom_svc_ref_frame_config_t references = {{0}};
    for (size_t i = 0; i < sizeof references.ref_idx / sizeof *references.ref_idx; i++)
        references.ref_idx[i] = (int)encoder->slot;
    references.reference[LAST] = references.reference[GOLDEN] = references.refresh[target] = 1;
    references.ref_idx[GOLDEN] = (int)other;
    error = aom_codec_control_of_library(&encoder->context, AV1E_SET_SVC_REF_FRAME_CONFIG, &references);
    if (error) return explain(encoder, error);
    aom_enc_frame_flags_t flags = 0;
    if (as_key)
        flags = AOM_EFLAG_FORCE_KF;
    else if (encoder->has_other_reference)
        flags = AOM_EFLAG_SET_PRIMARY_REF_NONE;
    error = aom_codec_encode(&encoder->context, &image, encoder->time, TICKS_PER_FRAME, flags);
    if (error) return explain(encoder, error);
    encoder->time += TICKS_PER_FRAME;
    aom_codec_iter_t iterator = NULL;
    for (const aom_codec_cx_pkt_t *packet; (packet = aom_codec_get_cx_data(&encoder->context, &iterator));) {
        if (packet->kind != AOM_CODEC_CX_FRAME_PKT || !packet->data.frame.sz) continue;
        frame->bytes = packet->data.frame.buf;
        frame->count = packet->data.frame.sz;
        frame->is_key = packet->data.frame.flags & AOM_FRAME_IS_KEY;
    }
    if (!frame->bytes) return NULL;
    encoder->has_other_reference = false;
    if (!frame->is_key) encoder->slot = target;
    encoder->shares_memory = frame->is_key;
    encoder->frames_since_key = frame->is_key ? 0 : encoder->frames_since_key + 1;
    aom_image_t shown;
    if (aom_codec_control_of_library(&encoder->context, AV1_GET_NEW_FRAME_IMAGE, &shown)) return "it shows no frame";
    if (shown.fmt != AOM_IMG_FMT_I420 || shown.d_w != config->g_w || shown.d_h != config->g_h)
        return "it shows a frame of another kind";
    frame->shown = (av1_encoder_source){
        shown.planes[AOM_PLANE_Y], shown.planes[AOM_PLANE_U], shown.planes[AOM_PLANE_V],
        shown.stride[AOM_PLANE_Y], shown.stride[AOM_PLANE_U], shown.stride[AOM_PLANE_V],
    };
    return get(encoder, AOME_GET_LAST_QUANTIZER, &frame->quantizer_index) ? "it reports no quantizer" : NULL;
}
