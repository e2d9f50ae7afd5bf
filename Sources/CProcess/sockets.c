#include "process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int exchange(int descriptor, const struct inet_diag_sockid *id, struct socket_entry *entry) {
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP, .id = *id}};
    if (send(descriptor, &request, sizeof request, 0) < 0) return errno;
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    // The kernel has answered before it returns from the call above.
    ssize_t length = recv(descriptor, &answer, sizeof answer, MSG_DONTWAIT);
    if (length < 0) return errno;
    if (!NLMSG_OK(&answer.head, (size_t)length)) return EPROTO;
    size_t size = answer.head.nlmsg_len - NLMSG_LENGTH(0);
    if (answer.head.nlmsg_type == NLMSG_ERROR && size >= sizeof(struct nlmsgerr)) {
        int error = ((struct nlmsgerr *)NLMSG_DATA(&answer.head))->error;
        return error < 0 ? -error : EPROTO;
    }
    if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || size < sizeof(struct inet_diag_msg)) return EPROTO;
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
    *entry = (struct socket_entry){found->idiag_state, found->idiag_uid, found->idiag_inode};
    return 0;
}

int socket_find(
    uint32_t address, uint16_t port, uint32_t peer_address, uint16_t peer_port, struct socket_entry *entry) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (descriptor < 0) return errno;
    struct inet_diag_sockid id = {
        .idiag_sport = htons(port),
        .idiag_dport = htons(peer_port),
        .idiag_src = {htonl(address)},
        .idiag_dst = {htonl(peer_address)},
        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}};
    int error = exchange(descriptor, &id, entry);
    close(descriptor);
    return error;
}
