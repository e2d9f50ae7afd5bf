#pragma once
#include <stddef.h>

/// One file of the page, named by its path in the directory `page`.
struct viewer_page_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
};

/// The number of files.
size_t viewer_page_file_count(void);
/// The file with an index below that number.
struct viewer_page_file viewer_page_file(size_t index);
