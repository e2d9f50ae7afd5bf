#include "formats.h"
#include <spa/param/video/format-utils.h>
#include <spa/pod/iter.h>

static const struct {
    uint32_t spa;
    pipewire_camera_pixels pixels;
} known[] = {
    {SPA_VIDEO_FORMAT_YUY2, pipewire_camera_yuy2}, {SPA_VIDEO_FORMAT_NV12, pipewire_camera_nv12},
    {SPA_VIDEO_FORMAT_I420, pipewire_camera_i420}, {SPA_VIDEO_FORMAT_BGRx, pipewire_camera_bgrx},
    {SPA_VIDEO_FORMAT_BGRA, pipewire_camera_bgrx}, {SPA_VIDEO_FORMAT_RGBx, pipewire_camera_rgbx},
    {SPA_VIDEO_FORMAT_RGBA, pipewire_camera_rgbx}, {SPA_VIDEO_FORMAT_BGR, pipewire_camera_bgr},
    {SPA_VIDEO_FORMAT_RGB, pipewire_camera_rgb},
};

static bool pixels_of(uint32_t format, pipewire_camera_pixels *pixels) {
    for (size_t i = 0; i < SPA_N_ELEMENTS(known); i++)
        if (known[i].spa == format) {
            *pixels = known[i].pixels;
            return true;
        }
    return false;
}

// MARK: Soundness

// The size of one value; 0 of a type that is not read here.
static uint32_t size_of(uint32_t type) {
    switch (type) {
    case SPA_TYPE_Bool:
    case SPA_TYPE_Id:
    case SPA_TYPE_Int: return 4;
    case SPA_TYPE_Long:
    case SPA_TYPE_Rectangle:
    case SPA_TYPE_Fraction: return 8;
    default: return 0;
    }
}

// Whether the values of a property have the size of their type, and lie within it. SPA's own functions read the first
// value of a choice without asking that.
static bool is_sound(const struct spa_pod *value) {
    uint32_t room = value->size;
    if (value->type == SPA_TYPE_Choice) {
        if (room < sizeof(struct spa_pod_choice_body)) return false;
        room -= sizeof(struct spa_pod_choice_body);
        value = SPA_POD_CHOICE_CHILD(value);
    }
    uint32_t size = size_of(value->type);
    return !size || (value->size == size && room >= size);
}

bool pod_is_sound(const struct spa_pod *param) {
    if (!param || !spa_pod_is_object(param)) return false;
    const struct spa_pod_prop *property;
    SPA_POD_OBJECT_FOREACH((const struct spa_pod_object *)param, property)
        if (!is_sound(&property->value)) return false;
    return true;
}

// MARK: What a camera enumerates

// More values of one property are left out: a camera has some tens.
#define MOST_VALUES 256

// The values of a property: one, those that are enumerated, of which the first is the default and stands among the others
// too, or a range's default, least and greatest.
typedef struct {
    const void *values;
    uint32_t count;
    bool is_range;
} alternatives;

static alternatives find(const struct spa_pod *format, uint32_t key, uint32_t type) {
    const struct spa_pod_prop *property = spa_pod_find_prop(format, NULL, key);
    alternatives found = {0};
    if (!property) return found;
    uint32_t choice;
    struct spa_pod *values = spa_pod_get_values(&property->value, &found.count, &choice);
    if (values->type != type || !found.count) return (alternatives){0};
    found.count = SPA_MIN(found.count, MOST_VALUES);
    found.values = SPA_POD_BODY(values);
    found.is_range = (choice == SPA_CHOICE_Range || choice == SPA_CHOICE_Step) && found.count >= 3;
    return found;
}

static uint32_t first_of(alternatives alternatives) { return alternatives.count > 1 ? 1 : 0; }

static int compare(pipewire_rate one, pipewire_rate other) {
    uint64_t left = (uint64_t)one.numerator * other.denominator, right = (uint64_t)other.numerator * one.denominator;
    return left < right ? -1 : left > right;
}

// The most come first; each once.
static void add_rate(pipewire_camera_format *format, pipewire_rate rate) {
    if (!rate.numerator || !rate.denominator) return;
    uint32_t place = 0;
    while (place < format->rate_count && compare(format->rates[place], rate) > 0) place++;
    if (place < format->rate_count && compare(format->rates[place], rate) == 0) return;
    if (place >= PIPEWIRE_MOST_RATES) return;
    if (format->rate_count < PIPEWIRE_MOST_RATES) format->rate_count++;
    for (uint32_t i = format->rate_count - 1; i > place; i--) format->rates[i] = format->rates[i - 1];
    format->rates[place] = rate;
}

static void add_rates(pipewire_camera_format *format, alternatives rates) {
    const struct spa_fraction *values = rates.values;
    if (!rates.is_range) {
        for (uint32_t i = first_of(rates); i < rates.count; i++)
            add_rate(format, (pipewire_rate){values[i].num, values[i].denom});
        return;
    }
    static const uint32_t usual[] = {60, 30, 25, 15, 10, 5};
    pipewire_rate least = {values[1].num, values[1].denom}, most = {values[2].num, values[2].denom};
    add_rate(format, most);
    for (size_t i = 0; i < SPA_N_ELEMENTS(usual); i++) {
        pipewire_rate rate = {usual[i], 1};
        if (compare(rate, least) >= 0 && compare(rate, most) <= 0) add_rate(format, rate);
    }
}

static bool is_readable(struct spa_rectangle size) {
    return size.width >= 2 && size.height >= 2 && size.width <= LARGEST_SIDE && size.height <= LARGEST_SIDE;
}

static void add_format(
    pipewire_camera_format *formats, uint32_t *count, pipewire_camera_pixels pixels, struct spa_rectangle size,
    alternatives rates) {
    if (!is_readable(size)) return;
    uint32_t i = 0;
    while (i < *count
           && (formats[i].pixels != pixels || formats[i].width != size.width || formats[i].height != size.height))
        i++;
    if (i == PIPEWIRE_MOST_FORMATS) return;
    if (i == *count) formats[(*count)++] = (pipewire_camera_format){pixels, size.width, size.height, {{0}}, 0};
    add_rates(&formats[i], rates);
}

static void add_sizes(
    pipewire_camera_format *formats, uint32_t *count, pipewire_camera_pixels pixels, alternatives sizes,
    alternatives rates) {
    const struct spa_rectangle *values = sizes.values;
    if (!sizes.is_range) {
        for (uint32_t i = first_of(sizes); i < sizes.count; i++) add_format(formats, count, pixels, values[i], rates);
        return;
    }
    static const struct spa_rectangle usual[] = {{1920, 1080}, {1280, 720}, {640, 480}, {320, 240}};
    add_format(formats, count, pixels, values[0], rates);
    for (size_t i = 0; i < SPA_N_ELEMENTS(usual); i++)
        if (usual[i].width >= values[1].width && usual[i].height >= values[1].height
            && usual[i].width <= values[2].width && usual[i].height <= values[2].height)
            add_format(formats, count, pixels, usual[i], rates);
}

void camera_add_formats(pipewire_camera_format *formats, uint32_t *count, const struct spa_pod *param) {
    uint32_t type, subtype;
    if (!pod_is_sound(param) || spa_format_parse(param, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video) return;
    alternatives sizes = find(param, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle);
    alternatives rates = find(param, SPA_FORMAT_VIDEO_framerate, SPA_TYPE_Fraction);
    if (subtype == SPA_MEDIA_SUBTYPE_mjpg) add_sizes(formats, count, pipewire_camera_mjpeg, sizes, rates);
    if (subtype != SPA_MEDIA_SUBTYPE_raw) return;
    alternatives spa = find(param, SPA_FORMAT_VIDEO_format, SPA_TYPE_Id);
    const uint32_t *values = spa.values;
    // Several of SPA's formats are read alike, and one may be named again and again.
    uint32_t added = 0;
    for (uint32_t i = first_of(spa); i < spa.count; i++) {
        pipewire_camera_pixels pixels;
        if (!pixels_of(values[i], &pixels) || added & 1u << pixels) continue;
        added |= 1u << pixels;
        add_sizes(formats, count, pixels, sizes, rates);
    }
}

// MARK: What is offered, and agreed on

const struct spa_pod *camera_offer(
    struct spa_pod_builder *builder, const pipewire_camera_format *format, bool any_rate) {
    struct spa_pod_frame frame, choice;
    spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    bool is_mjpeg = format->pixels == pipewire_camera_mjpeg;
    spa_pod_builder_add(
        builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
        SPA_POD_Id(is_mjpeg ? SPA_MEDIA_SUBTYPE_mjpg : SPA_MEDIA_SUBTYPE_raw), 0);
    if (!is_mjpeg) {
        // Those of the same order, with alpha or without; the first is the default.
        spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_format, 0);
        spa_pod_builder_push_choice(builder, &choice, SPA_CHOICE_Enum, 0);
        for (int round = 0; round < 2; round++)
            for (size_t i = 0; i < SPA_N_ELEMENTS(known); i++)
                if (known[i].pixels == format->pixels) {
                    spa_pod_builder_id(builder, known[i].spa);
                    if (!round) break;
                }
        spa_pod_builder_pop(builder, &choice);
    }
    spa_pod_builder_add(
        builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&SPA_RECTANGLE(format->width, format->height)), 0);
    struct spa_fraction rate = {30, 1};
    if (format->rate_count) rate = SPA_FRACTION(format->rates[0].numerator, format->rates[0].denominator);
    if (any_rate || !format->rate_count)
        spa_pod_builder_add(
            builder, SPA_FORMAT_VIDEO_framerate,
            SPA_POD_CHOICE_RANGE_Fraction(&rate, &SPA_FRACTION(0, 1), &SPA_FRACTION(1000, 1)), 0);
    else
        spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate), 0);
    return spa_pod_builder_pop(builder, &frame);
}

bool camera_parse(const struct spa_pod *param, pipewire_camera_format *format) {
    uint32_t type, subtype;
    struct spa_rectangle size = {0};
    struct spa_fraction rate = {0};
    *format = (pipewire_camera_format){0};
    if (!pod_is_sound(param) || spa_format_parse(param, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video)
        return false;
    if (subtype == SPA_MEDIA_SUBTYPE_mjpg) {
        struct spa_video_info_mjpg info = {0};
        if (spa_format_video_mjpg_parse(param, &info) < 0) return false;
        format->pixels = pipewire_camera_mjpeg;
        size = info.size;
        rate = info.framerate;
    } else if (subtype == SPA_MEDIA_SUBTYPE_raw) {
        struct spa_video_info_raw info = {0};
        if (spa_format_video_raw_parse(param, &info) < 0 || !pixels_of(info.format, &format->pixels)) return false;
        size = info.size;
        rate = info.framerate;
    } else {
        return false;
    }
    format->width = size.width;
    format->height = size.height;
    add_rate(format, (pipewire_rate){rate.num, rate.denom});
    return is_readable(size);
}
