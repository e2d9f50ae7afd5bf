#pragma once
#include <stddef.h>

/// One file of the page, named by its path in the folder `page`.
struct viewer_page_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
};

/// How many files there are.
size_t viewer_page_file_count(void);
/// The file of an index below that.
struct viewer_page_file viewer_page_file(size_t index);
