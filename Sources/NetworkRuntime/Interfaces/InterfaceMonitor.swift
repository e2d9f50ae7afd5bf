internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Hears from the kernel when this machine gets or loses an address (rtnetlink(7)).
final class InterfaceMonitor: Sendable {
    private let channel: any Channel

    /// Changes come in groups: an interface goes down with all its addresses.
    private static let settle = TimeAmount.milliseconds(100)

    /// `NETLINK_ROUTE` of linux/netlink.h.
    private static let route: Int32 = 0

    /// `sockaddr_nl` of linux/netlink.h, with the groups `RTMGRP_IPV4_IFADDR` and `RTMGRP_IPV6_IFADDR` of
    /// linux/rtnetlink.h.
    private struct Address {
        var family = UInt16(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups: UInt32 = 0x10 | 0x100
    }

    private init(_ channel: any Channel) {
        self.channel = channel
    }

    /// Begins to listen; nil where the system does not let us. `changed` is called on the event loop.
    static func start(on eventLoop: any EventLoop, changed: @escaping @Sendable () -> Void) async -> InterfaceMonitor? {
        let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), Self.route)
        guard descriptor >= 0 else { return nil }
        var address = Address()
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return nil
        }
        do {
            let channel = try await NIOPipeBootstrap(group: eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Handler(changed))
                    }
                }
                .takingOwnershipOfDescriptor(input: descriptor).get()
            return InterfaceMonitor(channel)
        } catch {
            close(descriptor)
            return nil
        }
    }

    /// Listens no longer.
    func stop() {
        channel.close(promise: nil)
    }

    deinit {
        stop()
    }

    /// What exactly changed is not read: who is told looks at all addresses anew.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let changed: @Sendable () -> Void
        private var settling: Scheduled<Void>?

        init(_ changed: @escaping @Sendable () -> Void) {
            self.changed = changed
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard settling == nil else { return }
            settling = context.eventLoop.assumeIsolated().scheduleTask(in: InterfaceMonitor.settle) {
                self.settling = nil
                self.changed()
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            settling?.cancel()
            context.fireChannelInactive()
        }
    }
}
