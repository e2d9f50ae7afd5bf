#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Memory and descriptors that processes share, by calls of Linux that the C library hides from Swift.

/// Memory of `size` bytes without a name, which can neither shrink nor grow: a descriptor, or -1 with `errno`.
int shared_memory_create(size_t size);
/// The size of memory that can't shrink while it is mapped; -1 where the descriptor is of anything else.
int64_t shared_memory_size(int descriptor);

/// Something that one process waits for and another signals: a descriptor, or -1 with `errno`.
int event_create(void);
void event_signal(int descriptor);
void event_clear(int descriptor);

/// Most descriptors that go with one message.
enum { MESSAGE_DESCRIPTORS = 2 };

/// Writes to a socket what it takes now, and with the first byte descriptors: how much, or -1 with `errno`.
ssize_t message_send(int socket, const void *bytes, size_t count, const int *descriptors, unsigned descriptor_count);
/// Reads from a socket what is there, and the descriptors that came with it (those beyond MESSAGE_DESCRIPTORS are closed):
/// how much, 0 at its end, or -1 with `errno`.
ssize_t message_receive(int socket, void *bytes, size_t count, int *descriptors, unsigned *descriptor_count);

/// Who waits at a listening socket: a descriptor that no program started from here inherits, or -1 with `errno`.
int socket_accept(int socket);
/// Whether the other side says nothing more, be it that what it said before was not read yet.
int socket_has_hung_up(int socket);
/// Has a TCP socket send what it is given without delay.
int socket_set_no_delay(int socket);

// What both sides read and write at the same time. All in one order for all, for what hangs on two of them.

static inline uint32_t shared_load32(const void *place) { return __atomic_load_n((const uint32_t *)place, __ATOMIC_SEQ_CST); }
static inline uint64_t shared_load64(const void *place) { return __atomic_load_n((const uint64_t *)place, __ATOMIC_SEQ_CST); }
static inline void shared_store32(void *place, uint32_t value) { __atomic_store_n((uint32_t *)place, value, __ATOMIC_SEQ_CST); }
static inline void shared_store64(void *place, uint64_t value) { __atomic_store_n((uint64_t *)place, value, __ATOMIC_SEQ_CST); }
/// Adds, and returns what there is then.
static inline uint32_t shared_add32(void *place, uint32_t value) { return __atomic_add_fetch((uint32_t *)place, value, __ATOMIC_SEQ_CST); }
