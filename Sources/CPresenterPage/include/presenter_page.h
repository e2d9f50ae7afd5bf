#pragma once
#include <stddef.h>

/// One file of the page for the presenter, named by its path in the directory `page`.
struct presenter_page_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
};

/// The number of files.
size_t presenter_page_file_count(void);
/// The file with an index below that number.
struct presenter_page_file presenter_page_file(size_t index);
