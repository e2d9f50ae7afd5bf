#include "optional_library.h"

#include <dlfcn.h>
#include <stdio.h>

const char *optional_library_find(optional_library *library) {
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(
            library->words, sizeof library->words, "%s is not installed; it is in the package %s", library->file,
            library->package);
        return library->problem = library->words;
    }
    for (size_t i = 0; i < library->count; i++) {
        const optional_function *function = &library->functions[i];
        *function->place = dlsym(handle, function->name);
        if (!*function->place) {
            snprintf(library->words, sizeof library->words, "%s is too old: it has no %s", library->file, function->name);
            return library->problem = library->words;
        }
    }
    return NULL;
}
