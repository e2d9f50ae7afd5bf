#include "presenter_page.h"

// The files of `page` as they lie there. A test compares both.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char announcement_js[] = {
#embed "page/announcement.js"
};
static const unsigned char api_js[] = {
#embed "page/api.js"
};
static const unsigned char before_js[] = {
#embed "page/before.js"
};
static const unsigned char console_js[] = {
#embed "page/console.js"
};
static const unsigned char controls_js[] = {
#embed "page/controls.js"
};
static const unsigned char copy_js[] = {
#embed "page/copy.js"
};
static const unsigned char events_js[] = {
#embed "page/events.js"
};
static const unsigned char graph_js[] = {
#embed "page/graph.js"
};
static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char links_js[] = {
#embed "page/links.js"
};
static const unsigned char list_js[] = {
#embed "page/list.js"
};
static const unsigned char messages_js[] = {
#embed "page/messages.js"
};
static const unsigned char picker_js[] = {
#embed "page/picker.js"
};
static const unsigned char presenter_css[] = {
#embed "page/presenter.css"
};
static const unsigned char preview_js[] = {
#embed "page/preview.js"
};
static const unsigned char problem_js[] = {
#embed "page/problem.js"
};
static const unsigned char region_js[] = {
#embed "page/region.js"
};
static const unsigned char router_js[] = {
#embed "page/router.js"
};
static const unsigned char source_dialog_js[] = {
#embed "page/source-dialog.js"
};
static const unsigned char sources_js[] = {
#embed "page/sources.js"
};
static const unsigned char tabs_js[] = {
#embed "page/tabs.js"
};
static const unsigned char texts_de_js[] = {
#embed "page/texts/de.js"
};
static const unsigned char texts_en_js[] = {
#embed "page/texts/en.js"
};
static const unsigned char texts_es_js[] = {
#embed "page/texts/es.js"
};
static const unsigned char texts_fr_js[] = {
#embed "page/texts/fr.js"
};
static const unsigned char texts_ja_js[] = {
#embed "page/texts/ja.js"
};
static const unsigned char texts_pt_js[] = {
#embed "page/texts/pt.js"
};
static const unsigned char texts_ru_js[] = {
#embed "page/texts/ru.js"
};
static const unsigned char texts_zh_js[] = {
#embed "page/texts/zh.js"
};
static const unsigned char viewers_js[] = {
#embed "page/viewers.js"
};
static const unsigned char wire_js[] = {
#embed "page/wire.js"
};
static const unsigned char words_js[] = {
#embed "page/words.js"
};

#define FILE_OF(name, symbol) {name, symbol, sizeof symbol}

static const struct presenter_page_file files[] = {
    FILE_OF("announcement.js", announcement_js),
    FILE_OF("api.js", api_js),
    FILE_OF("before.js", before_js),
    FILE_OF("console.js", console_js),
    FILE_OF("controls.js", controls_js),
    FILE_OF("copy.js", copy_js),
    FILE_OF("events.js", events_js),
    FILE_OF("graph.js", graph_js),
    FILE_OF("index.html", index_html),
    FILE_OF("links.js", links_js),
    FILE_OF("list.js", list_js),
    FILE_OF("messages.js", messages_js),
    FILE_OF("picker.js", picker_js),
    FILE_OF("presenter.css", presenter_css),
    FILE_OF("preview.js", preview_js),
    FILE_OF("problem.js", problem_js),
    FILE_OF("region.js", region_js),
    FILE_OF("router.js", router_js),
    FILE_OF("source-dialog.js", source_dialog_js),
    FILE_OF("sources.js", sources_js),
    FILE_OF("tabs.js", tabs_js),
    FILE_OF("texts/de.js", texts_de_js),
    FILE_OF("texts/en.js", texts_en_js),
    FILE_OF("texts/es.js", texts_es_js),
    FILE_OF("texts/fr.js", texts_fr_js),
    FILE_OF("texts/ja.js", texts_ja_js),
    FILE_OF("texts/pt.js", texts_pt_js),
    FILE_OF("texts/ru.js", texts_ru_js),
    FILE_OF("texts/zh.js", texts_zh_js),
    FILE_OF("viewers.js", viewers_js),
    FILE_OF("wire.js", wire_js),
    FILE_OF("words.js", words_js),
};

size_t presenter_page_file_count(void) { return sizeof files / sizeof *files; }

struct presenter_page_file presenter_page_file(size_t index) { return files[index]; }
