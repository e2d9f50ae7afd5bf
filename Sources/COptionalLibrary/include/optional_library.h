#pragma once
#include <stddef.h>

// A library that is loaded at run time if it is installed, and only when it is first needed: a program starts without
// it.
//
// Each of its functions that is used is defined here under its own name, and calls the library's function. So callers
// write exactly the calls that the library's documentation shows. They may call only after the library was found.

typedef struct {
    const char *name;
    void **place;
} optional_function;

typedef struct {
    // The file name of the library, without development files.
    const char *file;
    // The Debian package that has it.
    const char *package;
    const optional_function *functions;
    size_t count;
    // The reason why the library can't be used, once that is known.
    const char *problem;
    char words[256];
} optional_library;

// Loads the library. Returns null if it is loaded and has each function, otherwise the reason. The caller prevents
// concurrent calls.
const char *optional_library_find(optional_library *library);

// In the lists of functions: the result's type, the name, the parameters, the arguments. These definitions are visible
// only within the program: libraries use their own.
#define DEFINE_OPTIONAL(result, name, parameters, arguments) \
    static result(*name##_of_library) parameters; \
    __attribute__((visibility("hidden"))) result name parameters { return name##_of_library arguments; }
#define OPTIONAL_FUNCTION(result, name, parameters, arguments) {#name, (void **)&name##_of_library},
