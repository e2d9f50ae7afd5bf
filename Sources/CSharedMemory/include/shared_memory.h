#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Memory and descriptors that processes share, by calls of Linux that the C library hides from Swift.

/// Creates unnamed memory of `size` bytes, which can neither shrink nor grow. Returns a descriptor, or -1 with `errno`.
int shared_memory_create(size_t size);
/// Returns the size of memory that can't shrink while it is mapped; -1 if the descriptor is anything else.
int64_t shared_memory_size(int descriptor);

/// Creates an event that one process waits for and another signals. Returns a descriptor, or -1 with `errno`.
int event_create(void);
void event_signal(int descriptor);
void event_clear(int descriptor);

/// The maximum number of descriptors in one message.
enum { MESSAGE_DESCRIPTORS = 2 };

/// Writes as many bytes to a socket as it accepts now, with descriptors attached to the first byte. Returns the number
/// of bytes, or -1 with `errno`.
ssize_t message_send(int socket, const void *bytes, size_t count, const int *descriptors, unsigned descriptor_count);
/// Reads the available bytes of a socket, and the attached descriptors (those beyond MESSAGE_DESCRIPTORS are closed).
/// Returns the number of bytes, 0 at its end, or -1 with `errno`.
ssize_t message_receive(int socket, void *bytes, size_t count, int *descriptors, unsigned *descriptor_count);

/// Accepts a connection of a listening socket. Returns a descriptor that child processes do not inherit, or -1 with
/// `errno`.
int socket_accept(int socket);
/// Whether the peer has closed its writing side, even if bytes from before are still unread.
int socket_has_hung_up(int socket);
/// Disables the delay of small segments (Nagle's algorithm) of a TCP socket.
int socket_set_no_delay(int socket);

// Access to memory that both processes read and write concurrently. Sequentially consistent, for protocols that depend
// on two variables.

static inline uint32_t shared_load32(const void *place) { return __atomic_load_n((const uint32_t *)place, __ATOMIC_SEQ_CST); }
static inline uint64_t shared_load64(const void *place) { return __atomic_load_n((const uint64_t *)place, __ATOMIC_SEQ_CST); }
static inline void shared_store32(void *place, uint32_t value) { __atomic_store_n((uint32_t *)place, value, __ATOMIC_SEQ_CST); }
static inline void shared_store64(void *place, uint64_t value) { __atomic_store_n((uint64_t *)place, value, __ATOMIC_SEQ_CST); }
/// Adds a value, and returns the sum.
static inline uint32_t shared_add32(void *place, uint32_t value) { return __atomic_add_fetch((uint32_t *)place, value, __ATOMIC_SEQ_CST); }
