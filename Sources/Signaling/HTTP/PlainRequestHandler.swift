internal import NIOCore

/// Answers an unencrypted request at a TLS server, so that the browser shows a reason.
final class PlainRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var hasAnswered = false

    private static let page = """
        <!doctype html>
        <html lang="en"><meta charset="utf-8"><title>rtcshare – this page is encrypted</title>
        <h1>This page is encrypted</h1>
        <p>Its address begins with https:// and not with http://. Change that in the address bar, or open the link as you were
        given it.</p>
        </html>

        """

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered else { return }
        // Methods are letters, and TLS records begin with another byte (RFC 8446 §5.1).
        let first = unwrapInboundIn(data).readableBytesView.first
        guard let first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else {
            context.fireChannelRead(data)
            return context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        hasAnswered = true
        let page = Self.page
        let head = """
            HTTP/1.1 400 Bad Request\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(page.utf8.count)\r
            Connection: close\r
            \r

            """
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + page)), promise: nil)
        // The rest of the request is still read: a connection with unread bytes is reset, and the answer is lost.
        context.close(mode: .output, promise: nil)
    }
}
