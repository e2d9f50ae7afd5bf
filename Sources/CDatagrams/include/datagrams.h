#pragma once
#include <stdint.h>

// sendmmsg, recvmmsg and UDP segmentation of Linux, whose types the C library hides from Swift, and other calls that it
// hides, for the benchmarks.

/// The maximum number of messages in one call.
enum { DATAGRAMS_MOST = 64 };

/// A `struct sockaddr_in` or a `struct sockaddr_in6`, with their layout in memory.
struct socket_name {
    uint16_t family;
    /// In network byte order, as all fields that follow.
    uint16_t port;
    /// The IPv4 address; 0 for IPv6.
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
    /// Bytes of each datagram if there are several; 0 for one.
    uint16_t segment;
    uint16_t name_length;
    /// The destination, a `struct sockaddr`.
    const void *name;
};

/// Hands messages to the kernel in one call. Returns the number of messages that it accepted, or -1 with the reason for
/// the rejection of the first one in `error`.
int datagrams_send(int descriptor, const struct datagram *messages, unsigned count, int *error);

/// A received message.
struct received_datagram {
    uint32_t length;
    /// The arrival time in nanoseconds of CLOCK_REALTIME, if `datagrams_stamp` was called for the socket; otherwise 0.
    int64_t arrival;
    /// The source, a `struct sockaddr_in` or `struct sockaddr_in6`.
    uint32_t name[7];
};

/// Receives up to `count` waiting datagrams, each into `size` bytes of `memory`. Returns their number, or -1 with the
/// reason in `error`.
int datagrams_receive(
    int descriptor, void *memory, unsigned size, struct received_datagram *messages, unsigned count, int *error);

/// Makes the kernel record the arrival times of datagrams. Returns 0 on success.
int datagrams_stamp(int descriptor);

/// Creates a descriptor that waits for many others (epoll).
int readiness_open(void);
/// Watches a descriptor for readability, and stops that. Both return 0 on success.
int readiness_watch(int readiness, int descriptor, uint64_t token);
int readiness_forget(int readiness, int descriptor);
/// Writes the tokens of the readable descriptors, and returns their number.
int readiness_wait(int readiness, uint64_t *tokens, unsigned count, int milliseconds);

/// Restricts all threads of this process, and those that they start, to `count` processors from `first` on. Returns 0
/// on success.
int processor_pin(unsigned first, unsigned count);

/// The progress of a TCP connection.
struct stream_progress {
    /// The bytes that the peer has acknowledged so far.
    uint64_t acknowledged;
    /// The bytes after a lost segment that the peer has reported as received, estimated from their segments.
    uint64_t selectively_acknowledged;
    /// The congestion window, in bytes.
    uint64_t window;
    /// The written bytes that have not been sent yet.
    uint32_t unsent;
    /// The smoothed and the minimum round-trip time, in microseconds.
    uint32_t round_trip;
    uint32_t minimum_round_trip;
};

/// Reads the progress of a TCP connection. Returns 0 on success.
int stream_read_progress(int descriptor, struct stream_progress *progress);

/// Returns the number of bytes written to a TCP connection that have not been sent yet.
int stream_unsent(int descriptor);
