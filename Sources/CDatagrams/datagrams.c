#define _GNU_SOURCE
#include "datagrams.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

int datagrams_send(int descriptor, const struct datagram *messages, unsigned count, int *error) {
    struct mmsghdr headers[DATAGRAMS_MOST];
    struct iovec vectors[DATAGRAMS_MOST];
    union {
        char bytes[CMSG_SPACE(sizeof(uint16_t))];
        struct cmsghdr alignment;
    } controls[DATAGRAMS_MOST];

    if (count > DATAGRAMS_MOST) count = DATAGRAMS_MOST;
    for (unsigned index = 0; index < count; index++) {
        const struct datagram *message = &messages[index];
        struct msghdr *header = &headers[index].msg_hdr;
        vectors[index].iov_base = (void *)message->bytes;
        vectors[index].iov_len = message->length;
        header->msg_name = (void *)message->name;
        header->msg_namelen = message->name_length;
        header->msg_iov = &vectors[index];
        header->msg_iovlen = 1;
        header->msg_control = NULL;
        header->msg_controllen = 0;
        header->msg_flags = 0;
        if (message->segment == 0) continue;
        header->msg_control = controls[index].bytes;
        header->msg_controllen = sizeof(controls[index].bytes);
        struct cmsghdr *control = CMSG_FIRSTHDR(header);
        control->cmsg_level = SOL_UDP;
        control->cmsg_type = UDP_SEGMENT;
        control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
        memcpy(CMSG_DATA(control), &message->segment, sizeof(uint16_t));
    }
    int sent;
    do {
        sent = sendmmsg(descriptor, headers, count, MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) *error = errno;
    return sent;
}

int datagrams_receive(
    int descriptor, void *memory, unsigned size, struct received_datagram *messages, unsigned count, int *error) {
    struct mmsghdr headers[DATAGRAMS_MOST];
    struct iovec vectors[DATAGRAMS_MOST];
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr alignment;
    } controls[DATAGRAMS_MOST];

    if (count > DATAGRAMS_MOST) count = DATAGRAMS_MOST;
    for (unsigned index = 0; index < count; index++) {
        vectors[index].iov_base = (char *)memory + (size_t)index * size;
        vectors[index].iov_len = size;
        struct msghdr *header = &headers[index].msg_hdr;
        memset(header, 0, sizeof(*header));
        header->msg_name = messages[index].name;
        header->msg_namelen = sizeof(messages[index].name);
        header->msg_iov = &vectors[index];
        header->msg_iovlen = 1;
        header->msg_control = controls[index].bytes;
        header->msg_controllen = sizeof(controls[index].bytes);
    }
    int received;
    do {
        received = recvmmsg(descriptor, headers, count, MSG_DONTWAIT, NULL);
    } while (received < 0 && errno == EINTR);
    if (received < 0) *error = errno;
    for (int index = 0; index < received; index++) {
        messages[index].length = headers[index].msg_len;
        messages[index].arrival = 0;
        struct cmsghdr *control = CMSG_FIRSTHDR(&headers[index].msg_hdr);
        if (control == NULL || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec time;
        memcpy(&time, CMSG_DATA(control), sizeof(time));
        messages[index].arrival = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    }
    return received;
}

int datagrams_stamp(int descriptor) {
    int on = 1;
    return setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}

int readiness_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

int readiness_watch(int readiness, int descriptor, uint64_t token) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = token}};
    return epoll_ctl(readiness, EPOLL_CTL_ADD, descriptor, &event);
}

int readiness_forget(int readiness, int descriptor) {
    struct epoll_event event = {0};
    return epoll_ctl(readiness, EPOLL_CTL_DEL, descriptor, &event);
}

int readiness_wait(int readiness, uint64_t *tokens, unsigned count, int milliseconds) {
    struct epoll_event events[256];
    int ready = epoll_wait(readiness, events, count < 256 ? (int)count : 256, milliseconds);
    for (int index = 0; index < ready; index++) tokens[index] = events[index].data.u64;
    return ready;
}

int processor_pin(unsigned first, unsigned count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (unsigned processor = first; processor < first + count; processor++) CPU_SET(processor, &set);
    // Each thread has an affinity of its own; those to come inherit their beginner's.
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL) return sched_setaffinity(0, sizeof(set), &set);
    int result = 0;
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        int thread = atoi(entry->d_name);
        if (thread > 0 && sched_setaffinity(thread, sizeof(set), &set) != 0) result = -1;
    }
    closedir(threads);
    return result;
}
