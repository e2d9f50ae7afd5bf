#pragma once
#include <stdint.h>

/// Forbids core dumps of this process, and access of the same user's other processes to its memory (prctl(2),
/// PR_SET_DUMPABLE). Returns 0 on success.
int process_forbid_dumps(void);
/// Allows both again.
int process_allow_dumps(void);

/// Runs a program from PATH with one argument, in a session of its own, with no files but /dev/null and with the usual
/// signals, and waits for its end. Returns its status: 127 if it can't be started, and 128 if a signal ended it.
int process_run(const char *program, const char *argument);

/// A TCP socket of this machine.
struct socket_entry {
    /// `TCP_ESTABLISHED` or another state of netinet/tcp.h.
    uint8_t state;
    uint32_t user;
    /// 0 after the program has closed it. The user is unknown then.
    uint32_t inode;
};

/// Finds the socket with an IPv4 address, also one of IPv6 with the mapped address, that is connected to a peer
/// (sock_diag(7)). Without one, this finds the socket that listens at the address. Returns 0, or the number of the error.
int socket_find(
    uint32_t address, uint16_t port, uint32_t peer_address, uint16_t peer_port, struct socket_entry *entry);

/// Limits the C library to two arenas of memory for all threads (mallopt(3), M_ARENA_MAX). A thread that already
/// has an arena keeps it.
void memory_share_arenas(void);
/// Returns freed memory to the system.
void memory_trim(void);
/// The number of bytes that are allocated and not freed.
uint64_t memory_allocated(void);
