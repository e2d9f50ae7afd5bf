#define _GNU_SOURCE
#include "shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

int shared_memory_create(size_t size) {
    int descriptor = memfd_create("rtcshare-frames", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -1;
    if (ftruncate(descriptor, (off_t)size) != 0 ||
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        int reason = errno;
        close(descriptor);
        errno = reason;
        return -1;
    }
    return descriptor;
}

int64_t shared_memory_size(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    struct stat status;
    struct statfs system;
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(descriptor, &status) != 0) return -1;
    // Huge pages can be missing when they are looked at, which ends a process.
    if (fstatfs(descriptor, &system) != 0 || system.f_type != TMPFS_MAGIC) return -1;
    return status.st_size;
}

int event_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void event_signal(int descriptor) {
    uint64_t one = 1;
    // Full is signalled, too.
    ssize_t written = write(descriptor, &one, sizeof one);
    (void)written;
}

void event_clear(int descriptor) {
    uint64_t count;
    ssize_t got = read(descriptor, &count, sizeof count);
    (void)got;
}

ssize_t message_send(int socket, const void *bytes, size_t count, const int *descriptors, unsigned descriptor_count) {
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(MESSAGE_DESCRIPTORS * sizeof(int))];
    } control;
    if (descriptor_count > MESSAGE_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, descriptor_count * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t message_receive(int socket, void *bytes, size_t count, int *descriptors, unsigned *descriptor_count) {
    struct iovec vector = {.iov_base = bytes, .iov_len = count};
    union {
        struct cmsghdr header;
        // The kernel closes what does not fit.
        char space[CMSG_SPACE(MESSAGE_DESCRIPTORS * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    *descriptor_count = 0;
    ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        unsigned here = (unsigned)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (unsigned index = 0; index < here; index += 1) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof descriptor);
            if (*descriptor_count < MESSAGE_DESCRIPTORS) {
                descriptors[*descriptor_count] = descriptor;
                *descriptor_count += 1;
            } else {
                close(descriptor);
            }
        }
    }
    return got;
}

int socket_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC); }

int socket_has_hung_up(int socket) {
    struct pollfd entry = {.fd = socket, .events = POLLRDHUP};
    return poll(&entry, 1, 0) > 0;
}

int socket_set_no_delay(int socket) {
    int on = 1;
    return setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}
