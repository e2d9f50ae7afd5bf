#pragma once
#include <stddef.h>

// A library that is used where the machine has it, and asked for no sooner than it is needed: a program starts without.
//
// The functions that are used of it are defined anew, each under its own name, and go on to the library's. So whoever calls
// them writes what the library's documentation says. They are called once the library was found, and not before.

typedef struct {
    const char *name;
    void **place;
} optional_function;

typedef struct {
    // Its file, as it is called without development files.
    const char *file;
    // What it is called where it can be had.
    const char *package;
    const optional_function *functions;
    size_t count;
    // Why it can't be used, once that was found out.
    const char *problem;
    char words[256];
} optional_library;

// Loads the library. Null where that was done, now or before, and it has each function; else the reason. Whoever calls sees
// to it that nobody else does at the same time.
const char *optional_library_find(optional_library *library);

// In the lists of functions: the result's type, the name, the parameters, the arguments. What is defined here is seen within
// the program alone: libraries have their own.
#define DEFINE_OPTIONAL(result, name, parameters, arguments) \
    static result(*name##_of_library) parameters; \
    __attribute__((visibility("hidden"))) result name parameters { return name##_of_library arguments; }
#define OPTIONAL_FUNCTION(result, name, parameters, arguments) {#name, (void **)&name##_of_library},
