import Testing

/// Everything that runs the built command line. One at a time: these tests measure time, and each has the machine busy.
@Suite(.serialized, .enabled(if: Peers.hasCommandLine, "rtcshare is not built"), .timeLimit(.minutes(5)))
enum Interop {}
