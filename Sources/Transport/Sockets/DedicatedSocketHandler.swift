internal import NIOCore
internal import RTCShareICE
internal import RTCShareSTUN
internal import RTCShareWireFormat

/// Splits the data of a dedicated socket into messages, and notifies its owner of its start and end.
final class DedicatedSocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private enum Framer {
        case none
        case turn(StreamFramer)
        case lengthPrefixed(RFC4571Framer)
    }

    private var framer: Framer
    private let isStream: Bool
    private let isSecure: Bool
    private let ready: (any Channel) -> Void
    private let writable: () -> Void
    private let receive: (inout ByteBuffer) -> Void
    private let ended: (String) -> Void
    private var failure: String?

    /// Creates a handler. Without a framing, it receives whole messages.
    init(
        framing: StreamFraming?, isSecure: Bool, ready: @escaping (any Channel) -> Void,
        writable: @escaping () -> Void, receive: @escaping (inout ByteBuffer) -> Void, ended: @escaping (String) -> Void
    ) {
        switch framing {
        case .turn: framer = .turn(StreamFramer())
        case .lengthPrefixed: framer = .lengthPrefixed(RFC4571Framer())
        case nil: framer = .none
        }
        isStream = framing != nil
        self.isSecure = isSecure
        self.ready = ready
        self.writable = writable
        self.receive = receive
        self.ended = ended
    }

    func channelActive(context: ChannelHandlerContext) {
        // A TLS channel has its handshake first.
        if !isSecure { ready(context.channel) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is TLSHandshakeCompleted where isSecure: ready(context.channel)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch framer {
        case .none: receive(&bytes)
        case .turn(var framer):
            // The framer is moved, so that its buffer is not copied.
            self.framer = .none
            framer.append(bytes.readableBytesSpan)
            do {
                while let message = try framer.next() { deliver(message) }
                self.framer = .turn(framer)
            } catch {
                fail("what came over the connection is neither STUN nor TURN", context)
            }
        case .lengthPrefixed(var framer):
            self.framer = .none
            framer.append(bytes.readableBytesSpan)
            while let message = framer.next() { deliver(message) }
            self.framer = .lengthPrefixed(framer)
        }
    }

    private func deliver(_ message: [UInt8]) {
        var bytes = ByteBuffer(bytes: message)
        receive(&bytes)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { writable() }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A receive error of a datagram socket adds nothing to the server's missing answer.
        if isStream { fail(SocketFailure.reason(of: error), context) }
    }

    private func fail(_ reason: String, _ context: ChannelHandlerContext) {
        failure = failure ?? reason
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended(failure ?? "the server closed the connection")
        context.fireChannelInactive()
    }
}

/// Makes a datagram socket behave like a stream of whole messages to and from one address. The socket is not connected:
/// ICMP errors of a server that is briefly unavailable would close a connected one, and with its port the allocation.
final class EnvelopeHandler: ChannelDuplexHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let remote: SocketAddress

    init(remote: SocketAddress) {
        self.remote = remote
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        if envelope.remoteAddress == remote { context.fireChannelRead(wrapInboundOut(envelope.data)) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let envelope = AddressedEnvelope(remoteAddress: remote, data: unwrapOutboundIn(data))
        context.write(wrapOutboundOut(envelope), promise: promise)
    }
}
