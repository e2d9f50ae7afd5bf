/// Session descriptions as browsers and other peers write them; their lines end in LF here.
public enum PeerDescriptions {
    /// An offer of Chromium.
    public static let chromiumOffer = """
        v=0
        o=- 3659171870212345678 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1
        a=extmap-allow-mixed
        a=msid-semantic: WMS bob#content
        m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=ice-ufrag:Zx9/
        a=ice-pwd:Yq3T1h8LkM0nB6vC2xZ4aSdF
        a=ice-options:trickle
        a=fingerprint:sha-256 5B:6A:2E:0C:7D:11:90:AF:33:C4:E8:5F:12:09:AB:CD:EF:01:23:45:67:89:9A:BC:DE:F0:10:32:54:76:98:BA
        a=setup:actpass
        a=mid:0
        a=extmap:14 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=sendrecv
        a=msid:bob 4f1d2c3b-1111-4222-8333-444455556666
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:111 opus/48000/2
        a=rtcp-fb:111 transport-cc
        a=fmtp:111 minptime=10;useinbandfec=1
        a=rtpmap:63 red/48000/2
        a=fmtp:63 111/111
        a=rtpmap:9 G722/8000
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=rtpmap:13 CN/8000
        a=rtpmap:110 telephone-event/48000
        a=rtpmap:126 telephone-event/8000
        a=ssrc:1102330011 cname:nXq0yTz1oPp2Kk3s
        a=ssrc:1102330011 msid:bob 4f1d2c3b-1111-4222-8333-444455556666
        m=video 9 UDP/TLS/RTP/SAVPF 102 103 96 97 104 105
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=candidate:1467250027 1 udp 2122260223 192.168.1.5 46154 typ host generation 0 ufrag Zx9/ network-id 1
        a=candidate:435653019 1 tcp 1845501695 192.168.1.5 9 typ host tcptype active generation 0 ufrag Zx9/ network-id 1
        a=ice-ufrag:Zx9/
        a=ice-pwd:Yq3T1h8LkM0nB6vC2xZ4aSdF
        a=ice-options:trickle
        a=fingerprint:sha-256 5B:6A:2E:0C:7D:11:90:AF:33:C4:E8:5F:12:09:AB:CD:EF:01:23:45:67:89:9A:BC:DE:F0:10:32:54:76:98:BA
        a=setup:actpass
        a=mid:1
        b=AS:2500
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:13 urn:3gpp:video-orientation
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/video-content-type
        a=extmap:7 http://www.webrtc.org/experiments/rtp-hdrext/video-timing
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=sendonly
        a=content:slides
        a=msid:bob#content 9e2a7b10-aaaa-4bbb-8ccc-ddddeeeeffff
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:102 H264/90000
        a=rtcp-fb:102 nack
        a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
        a=rtpmap:103 rtx/90000
        a=fmtp:103 apt=102
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 goog-remb
        a=rtcp-fb:96 transport-cc
        a=rtcp-fb:96 ccm fir
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=rtpmap:104 red/90000
        a=rtpmap:105 ulpfec/90000
        a=ssrc-group:FID 2231627014 632943048
        a=ssrc:2231627014 cname:nXq0yTz1oPp2Kk3s
        a=ssrc:2231627014 msid:bob#content 9e2a7b10-aaaa-4bbb-8ccc-ddddeeeeffff
        a=ssrc:632943048 cname:nXq0yTz1oPp2Kk3s
        a=ssrc:632943048 msid:bob#content 9e2a7b10-aaaa-4bbb-8ccc-ddddeeeeffff

        """

    /// Chromium's answer to an offer of video.
    public static let chromiumAnswer = """
        v=0
        o=- 7418529630741852963 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0
        a=extmap-allow-mixed
        a=msid-semantic: WMS
        m=video 57842 UDP/TLS/RTP/SAVPF 96 97
        c=IN IP4 192.168.1.23
        a=rtcp:9 IN IP4 0.0.0.0
        a=candidate:2214018427 1 udp 2113937151 6c1f0d0a-7f2e-4a8e-9d0d-0a2b4c6d8e10.local 57842 typ host generation 0 network-cost 999
        a=candidate:842163049 1 udp 1677729535 203.0.113.9 57842 typ srflx raddr 0.0.0.0 rport 0 generation 0 network-cost 999
        a=ice-ufrag:q1Wd
        a=ice-pwd:8mN2yqR0p7Vf3ZtL5sXcUeHj
        a=ice-options:trickle
        a=fingerprint:sha-256 5B:6A:2E:0C:7D:11:90:AF:33:C4:E8:5F:12:09:AB:CD:EF:01:23:45:67:89:9A:BC:DE:F0:10:32:54:76:98:BA
        a=setup:active
        a=mid:0
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:3gpp:video-orientation
        a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/video-content-type
        a=recvonly
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 goog-remb
        a=rtcp-fb:96 transport-cc
        a=rtcp-fb:96 ccm fir
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96

        """

    /// Firefox's answer.
    public static let firefoxAnswer = """
        v=0
        o=mozilla...THIS_IS_SDPARTA-140.0 2147483648012345678 0 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=fingerprint:sha-256 5B:6A:2E:0C:7D:11:90:AF:33:C4:E8:5F:12:09:AB:CD:EF:01:23:45:67:89:9A:BC:DE:F0:10:32:54:76:98:BA
        a=ice-options:trickle
        a=msid-semantic:WMS *
        a=group:BUNDLE 0
        m=video 43122 UDP/TLS/RTP/SAVPF 120 124
        c=IN IP4 198.51.100.7
        a=candidate:0 1 UDP 2122252543 198.51.100.7 43122 typ host
        a=candidate:1 1 UDP 2122187007 2001:db8::7 50110 typ host
        a=candidate:2 1 TCP 2105524479 198.51.100.7 9 typ host tcptype active
        a=recvonly
        a=end-of-candidates
        a=extmap:1/recvonly urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:5/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
        a=fmtp:120 max-fs=12288;max-fr=60
        a=fmtp:124 apt=120
        a=ice-pwd:0a1b2c3d4e5f60718293a4b5c6d7e8f9
        a=ice-ufrag:1d2c3b4a
        a=mid:0
        a=rtcp-fb:120 nack
        a=rtcp-fb:120 nack pli
        a=rtcp-fb:120 ccm fir
        a=rtcp-fb:120 goog-remb
        a=rtcp-fb:120 transport-cc
        a=rtcp-mux
        a=rtcp-rsize
        a=rtpmap:120 VP8/90000
        a=rtpmap:124 rtx/90000
        a=setup:active
        a=ssrc:3735928559 cname:{0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0}

        """

    /// An offer of aiortc.
    public static let aiortcOffer = """
        v=0
        o=- 3940000000 3940000000 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=group:BUNDLE 0
        a=msid-semantic:WMS *
        m=video 38511 UDP/TLS/RTP/SAVPF 96 97
        c=IN IP4 192.0.2.44
        a=sendonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=mid:0
        a=msid:6f1c7b44-7c29-4d41-8d16-1c1f3c0f3a56 0b0ae6e1-54ff-41fb-a1a2-8fa4c7b06c51
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc-group:FID 2501411741 2882343476
        a=ssrc:2501411741 cname:0e9a6a1e-95b4-4a4c-8a25-02a6a36f26b0
        a=ssrc:2882343476 cname:0e9a6a1e-95b4-4a4c-8a25-02a6a36f26b0
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 goog-remb
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=candidate:8f6a1d2e9b3c4a5f60718293a4b5c6d7 1 udp 2130706431 192.0.2.44 38511 typ host
        a=end-of-candidates
        a=ice-ufrag:Rk3T
        a=ice-pwd:hF0pKq2dXs7Wb9Ln4VcZ1m
        a=fingerprint:sha-256 5B:6A:2E:0C:7D:11:90:AF:33:C4:E8:5F:12:09:AB:CD:EF:01:23:45:67:89:9A:BC:DE:F0:10:32:54:76:98:BA
        a=setup:actpass

        """

    /// aiortc's answer.
    public static let aiortcAnswer = """
        v=0
        o=- 3940000000 3940000000 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=group:BUNDLE 0
        a=msid-semantic:WMS *
        m=video 38511 UDP/TLS/RTP/SAVPF 96 97
        c=IN IP4 192.0.2.44
        a=recvonly
        a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=mid:0
        a=msid:6f1c7b44-7c29-4d41-8d16-1c1f3c0f3a56 0b0ae6e1-54ff-41fb-a1a2-8fa4c7b06c51
        a=rtcp:9 IN IP4 0.0.0.0
        a=rtcp-mux
        a=ssrc-group:FID 2501411741 2882343476
        a=ssrc:2501411741 cname:0e9a6a1e-95b4-4a4c-8a25-02a6a36f26b0
        a=ssrc:2882343476 cname:0e9a6a1e-95b4-4a4c-8a25-02a6a36f26b0
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 goog-remb
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=candidate:8f6a1d2e9b3c4a5f60718293a4b5c6d7 1 udp 2130706431 192.0.2.44 38511 typ host
        a=end-of-candidates
        a=ice-ufrag:Rk3T
        a=ice-pwd:hF0pKq2dXs7Wb9Ln4VcZ1m
        a=fingerprint:sha-256 5B:6A:2E:0C:7D:11:90:AF:33:C4:E8:5F:12:09:AB:CD:EF:01:23:45:67:89:9A:BC:DE:F0:10:32:54:76:98:BA
        a=setup:active

        """

    /// The answer of GStreamer's webrtcbin.
    public static let gstreamerAnswer = """
        v=0
        o=- 1122334455667788990 0 IN IP4 0.0.0.0
        s=-
        t=0 0
        a=ice-options:trickle
        a=group:BUNDLE 0
        m=video 9 UDP/TLS/RTP/SAVPF 96 97
        c=IN IP4 0.0.0.0
        a=ice-ufrag:bGzhdOaCVM9mLqO+AlOVXN7gE/t9lGxi
        a=ice-pwd:f4Tk2ZcIfd3Re7xvTxjTWfIKPuWPdqRC
        a=rtcp-mux
        a=setup:active
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 nack
        a=rtcp-fb:96 nack pli
        a=rtcp-fb:96 ccm fir
        a=rtcp-fb:96 transport-cc
        a=framerate:30
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=recvonly
        a=mid:0
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=fingerprint:sha-256 5B:6A:2E:0C:7D:11:90:AF:33:C4:E8:5F:12:09:AB:CD:EF:01:23:45:67:89:9A:BC:DE:F0:10:32:54:76:98:BA
        a=rtcp-rsize
        a=candidate:1 1 UDP 2015363327 10.0.0.8 41010 typ host
        a=candidate:2 1 TCP 1015021823 10.0.0.8 9 typ host tcptype active

        """
}
