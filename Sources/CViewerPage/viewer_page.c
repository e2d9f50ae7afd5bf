#include "viewer_page.h"

// The files of `page` as they lie there. A test compares both.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char bar_js[] = {
#embed "page/bar.js"
};
static const unsigned char base_css[] = {
#embed "page/base.css"
};
static const unsigned char gestures_js[] = {
#embed "page/gestures.js"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};
static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char keys_js[] = {
#embed "page/keys.js"
};
static const unsigned char language_js[] = {
#embed "page/language.js"
};
static const unsigned char languages_de_js[] = {
#embed "page/languages/de.js"
};
static const unsigned char languages_en_js[] = {
#embed "page/languages/en.js"
};
static const unsigned char languages_es_js[] = {
#embed "page/languages/es.js"
};
static const unsigned char languages_fr_js[] = {
#embed "page/languages/fr.js"
};
static const unsigned char languages_ja_js[] = {
#embed "page/languages/ja.js"
};
static const unsigned char languages_pt_js[] = {
#embed "page/languages/pt.js"
};
static const unsigned char languages_ru_js[] = {
#embed "page/languages/ru.js"
};
static const unsigned char languages_zh_js[] = {
#embed "page/languages/zh.js"
};
static const unsigned char link_header_js[] = {
#embed "page/link-header.js"
};
static const unsigned char link_js[] = {
#embed "page/link.js"
};
static const unsigned char main_js[] = {
#embed "page/main.js"
};
static const unsigned char notice_js[] = {
#embed "page/notice.js"
};
static const unsigned char panel_js[] = {
#embed "page/panel.js"
};
static const unsigned char sdp_js[] = {
#embed "page/sdp.js"
};
static const unsigned char session_js[] = {
#embed "page/session.js"
};
static const unsigned char settings_js[] = {
#embed "page/settings.js"
};
static const unsigned char sound_js[] = {
#embed "page/sound.js"
};
static const unsigned char stage_js[] = {
#embed "page/stage.js"
};
static const unsigned char statistics_js[] = {
#embed "page/statistics.js"
};
static const unsigned char tile_js[] = {
#embed "page/tile.js"
};
static const unsigned char view_js[] = {
#embed "page/view.js"
};
static const unsigned char viewer_css[] = {
#embed "page/viewer.css"
};
static const unsigned char watch_js[] = {
#embed "page/watch.js"
};
static const unsigned char whep_js[] = {
#embed "page/whep.js"
};
static const unsigned char words_js[] = {
#embed "page/words.js"
};

#define FILE_OF(name, symbol) {name, symbol, sizeof symbol}

static const struct viewer_page_file files[] = {
    FILE_OF("bar.js", bar_js),
    FILE_OF("base.css", base_css),
    FILE_OF("gestures.js", gestures_js),
    FILE_OF("icon.svg", icon_svg),
    FILE_OF("index.html", index_html),
    FILE_OF("keys.js", keys_js),
    FILE_OF("language.js", language_js),
    FILE_OF("languages/de.js", languages_de_js),
    FILE_OF("languages/en.js", languages_en_js),
    FILE_OF("languages/es.js", languages_es_js),
    FILE_OF("languages/fr.js", languages_fr_js),
    FILE_OF("languages/ja.js", languages_ja_js),
    FILE_OF("languages/pt.js", languages_pt_js),
    FILE_OF("languages/ru.js", languages_ru_js),
    FILE_OF("languages/zh.js", languages_zh_js),
    FILE_OF("link-header.js", link_header_js),
    FILE_OF("link.js", link_js),
    FILE_OF("main.js", main_js),
    FILE_OF("notice.js", notice_js),
    FILE_OF("panel.js", panel_js),
    FILE_OF("sdp.js", sdp_js),
    FILE_OF("session.js", session_js),
    FILE_OF("settings.js", settings_js),
    FILE_OF("sound.js", sound_js),
    FILE_OF("stage.js", stage_js),
    FILE_OF("statistics.js", statistics_js),
    FILE_OF("tile.js", tile_js),
    FILE_OF("view.js", view_js),
    FILE_OF("viewer.css", viewer_css),
    FILE_OF("watch.js", watch_js),
    FILE_OF("whep.js", whep_js),
    FILE_OF("words.js", words_js),
};

size_t viewer_page_file_count(void) { return sizeof files / sizeof *files; }

struct viewer_page_file viewer_page_file(size_t index) { return files[index]; }
