#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/shm.h>
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

// A System V segment of `length` bytes mapped here, or null; its id goes to `identifier`.
static inline void *cxcb_segment_create(size_t length, int *identifier) {
    int segment = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);
    if (segment < 0) return NULL;
    void *address = shmat(segment, NULL, 0);
    if (address == (void *)-1) {
        shmctl(segment, IPC_RMID, NULL);
        return NULL;
    }
    *identifier = segment;
    return address;
}

// Marks the segment to vanish with its last mapping, so that a killed process leaves none behind.
static inline void cxcb_segment_forget(int identifier) {
    shmctl(identifier, IPC_RMID, NULL);
}
