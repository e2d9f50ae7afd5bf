#include "datagrams.h"

// The C library's header has only the oldest members of tcp_info, and can't be included together with the kernel's.
#include <linux/tcp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int stream_read_progress(int descriptor, struct stream_progress *progress) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) { return -1; }
    progress->acknowledged = info.tcpi_bytes_acked;
    progress->selectively_acknowledged = (uint64_t)info.tcpi_sacked * info.tcpi_snd_mss;
    progress->window = (uint64_t)info.tcpi_snd_cwnd * info.tcpi_snd_mss;
    progress->unsent = info.tcpi_notsent_bytes;
    progress->round_trip = info.tcpi_rtt;
    // The kernel says "unknown" by all ones.
    progress->minimum_round_trip = info.tcpi_min_rtt == UINT32_MAX ? info.tcpi_rtt : info.tcpi_min_rtt;
    return 0;
}

int stream_unsent(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQNSD, &count) == 0 ? count : 0;
}
