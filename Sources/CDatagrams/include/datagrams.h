#pragma once
#include <stdint.h>

// sendmmsg, recvmmsg and UDP segmentation of Linux, whose types the C library hides from Swift, and for benchmarks what
// else it hides.

/// Most messages of one call.
enum { DATAGRAMS_MOST = 64 };

/// A `struct sockaddr_in` or a `struct sockaddr_in6`, as they lie in memory.
struct socket_name {
    uint16_t family;
    /// As all that follows, in network byte order.
    uint16_t port;
    /// The address of IPv4; 0 for IPv6.
    uint32_t v4;
    uint64_t v6_high;
    uint64_t v6_low;
    uint32_t scope;
};

/// A message to send: one datagram, or several of one size to one destination (the last may be shorter).
struct datagram {
    /// The bytes of all its datagrams, one after another.
    const void *bytes;
    uint32_t length;
    /// Bytes of each datagram where there are several; 0 for one.
    uint16_t segment;
    uint16_t name_length;
    /// A `struct sockaddr` of the destination.
    const void *name;
};

/// Hands messages to the kernel in one call: how many it took, or -1 with the reason that the first was refused for in
/// `error`.
int datagrams_send(int descriptor, const struct datagram *messages, unsigned count, int *error);

/// A message that was received.
struct received_datagram {
    uint32_t length;
    /// When it came, in nanoseconds of CLOCK_REALTIME, where the socket was told to note that; else 0.
    int64_t arrival;
    /// A `struct sockaddr_in` or `struct sockaddr_in6` of the source.
    uint32_t name[7];
};

/// Takes up to `count` datagrams that wait, each into `size` bytes of `memory`: how many, or -1 with the reason in
/// `error`.
int datagrams_receive(
    int descriptor, void *memory, unsigned size, struct received_datagram *messages, unsigned count, int *error);

/// Has the kernel note when datagrams come; 0 where that was possible.
int datagrams_stamp(int descriptor);

/// Waits for one of many descriptors.
int readiness_open(void);
/// Watches a descriptor for something to read, or no longer; 0 where that was possible.
int readiness_watch(int readiness, int descriptor, uint64_t token);
int readiness_forget(int readiness, int descriptor);
/// Writes the tokens of those that have something to read; how many.
int readiness_wait(int readiness, uint64_t *tokens, unsigned count, int milliseconds);

/// Keeps all threads of this process, and those that they begin, on `count` processors from `first` on; 0 where that was
/// possible.
int processor_pin(unsigned first, unsigned count);
