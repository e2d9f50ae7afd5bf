#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xcb/composite.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>
#include <xcb/xfixes.h>

// The extensions' ids are mutable globals in C, which Swift 6 will not name: these look them up.

static inline const xcb_query_extension_reply_t *cxcb_shm_extension(xcb_connection_t *connection) {
    return xcb_get_extension_data(connection, &xcb_shm_id);
}

static inline const xcb_query_extension_reply_t *cxcb_xfixes_extension(xcb_connection_t *connection) {
    return xcb_get_extension_data(connection, &xcb_xfixes_id);
}

static inline const xcb_query_extension_reply_t *cxcb_damage_extension(xcb_connection_t *connection) {
    return xcb_get_extension_data(connection, &xcb_damage_id);
}

static inline const xcb_query_extension_reply_t *cxcb_composite_extension(xcb_connection_t *connection) {
    return xcb_get_extension_data(connection, &xcb_composite_id);
}

static inline const xcb_query_extension_reply_t *cxcb_randr_extension(xcb_connection_t *connection) {
    return xcb_get_extension_data(connection, &xcb_randr_id);
}

// Memory of `length` bytes mapped here, or null; its descriptor, for the X server, goes to `descriptor`. It vanishes with
// its last mapping, so that a killed process leaves none behind.
static inline void *cxcb_memory_create(size_t length, int *descriptor) {
    // The C library hides memfd_create from Swift, and MFD_CLOEXEC, which is 1.
    int memory = (int)syscall(SYS_memfd_create, "rtcshare-screen", 1u);
    if (memory < 0) return NULL;
    void *address = MAP_FAILED;
    if (ftruncate(memory, (off_t)length) == 0)
        address = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (address == MAP_FAILED) {
        close(memory);
        return NULL;
    }
    *descriptor = memory;
    return address;
}

static inline void cxcb_memory_release(void *address, size_t length) { munmap(address, length); }

// Whether descriptors can be sent to the server: over a network, the connection would end.
static inline bool cxcb_takes_descriptors(xcb_connection_t *connection) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    return getsockname(xcb_get_file_descriptor(connection), (struct sockaddr *)&address, &length) == 0
           && address.ss_family == AF_UNIX;
}
