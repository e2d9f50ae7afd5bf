internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import RTCShareLocks

/// Reports changes of this machine's addresses and routes (rtnetlink(7)).
final class InterfaceMonitor: Sendable {
    struct State {
        var channel: (any Channel)?
        var isStopped = false
    }

    let state = Locked(State())
    private let eventLoop: any EventLoop
    private let changed: @Sendable () -> Void

    /// The delay in which changes are collected: they come in groups, because an interface goes down with all its
    /// addresses.
    private static let settle = TimeAmount.milliseconds(100)

    /// `sockaddr_nl` of linux/netlink.h, with the groups `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV4_ROUTE`, `RTMGRP_IPV4_RULE`,
    /// `RTMGRP_IPV6_IFADDR` and `RTMGRP_IPV6_ROUTE` of linux/rtnetlink.h, and that of `RTNLGRP_IPV6_RULE`.
    private struct Address {
        var family = UInt16(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups: UInt32 = 0x10 | 0x40 | 0x80 | 0x100 | 0x400 | 1 << 18
    }

    private init(on eventLoop: any EventLoop, changed: @escaping @Sendable () -> Void) {
        self.eventLoop = eventLoop
        self.changed = changed
    }

    /// Starts to listen; nil if the system does not permit it. `changed` is called on the event loop.
    static func start(on eventLoop: any EventLoop, changed: @escaping @Sendable () -> Void) async -> InterfaceMonitor? {
        let monitor = InterfaceMonitor(on: eventLoop, changed: changed)
        return await monitor.listen() ? monitor : nil
    }

    /// Stops listening.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.channel
        }?.close(promise: nil)
    }

    deinit {
        stop()
    }

    private func listen() async -> Bool {
        guard let descriptor = Self.openSocket() else { return false }
        do {
            let channel = try await NIOPipeBootstrap(group: eventLoop)
                .channelInitializer { [weak self] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Handler(self))
                    }
                }
                .takingOwnershipOfDescriptor(input: descriptor).get()
            let isStopped = state.withLock { state in
                state.channel = channel
                return state.isStopped
            }
            if isStopped { channel.close(promise: nil) }
            return true
        } catch {
            close(descriptor)
            return false
        }
    }

    private static func openSocket() -> Int32? {
        let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), Netlink.route)
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
        return descriptor
    }

    /// Restarts after the kernel has dropped messages for which the socket had no room, which it reports by an error
    /// (ENOBUFS) that closes the channel. Changes in between are unknown.
    private func restart() {
        eventLoop.scheduleTask(in: Self.settle) { [weak self] in
            guard let self, !state.withLock({ $0.isStopped }) else { return }
            Task {
                guard await self.listen() else { return self.restart() }
                self.eventLoop.execute(self.changed)
            }
        }
    }

    /// Handles messages without reading the changes: the monitor's owner reads all addresses again.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private weak var monitor: InterfaceMonitor?
        private var settling: Scheduled<Void>?

        init(_ monitor: InterfaceMonitor?) {
            self.monitor = monitor
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard settling == nil else { return }
            settling = context.eventLoop.assumeIsolated().scheduleTask(in: InterfaceMonitor.settle) {
                self.settling = nil
                self.monitor?.changed()
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            settling?.cancel()
            monitor?.restart()
            context.fireChannelInactive()
        }
    }
}
