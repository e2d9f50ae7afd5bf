import Foundation
import RTCShareCSharedMemory
import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import TestSupport

@testable import RTCShareCaptureBroadcast

/// Common parts of the tests of a broadcast: tokens, a directory for sockets, frames.
enum BroadcastFixture {
    static let appToken = Array("the app's own token".utf8)
    static let extensionToken = Array("what the extension says".utf8)

    /// A token as it is sent.
    static func greeting(_ token: [UInt8]) -> [UInt8] { [0, UInt8(token.count)] + token }

    static func appTokens() throws -> BroadcastTokens { try BroadcastTokens(mine: appToken, peers: extensionToken) }
    static func extensionTokens() throws -> BroadcastTokens {
        try BroadcastTokens(mine: extensionToken, peers: appToken)
    }

    /// Returns a frame whose bytes follow from `seed` and their positions.
    static func picture(
        _ size: PixelSize = PixelSize(width: 64, height: 48), format: PixelFormat = .bgra, seed: Int
    ) -> PixelBuffer {
        PixelBuffer(size: size, format: format) { planes, strides in
            for plane in planes.indices {
                let extent = format.planeExtent(plane, of: size)
                for row in 0..<extent.rows {
                    for column in 0..<extent.rowBytes {
                        planes[plane][row * strides[plane] + column] = UInt8(
                            truncatingIfNeeded: seed &* 31 &+ plane &* 7 &+ row &* 3 &+ column)
                    }
                }
            }
        }
    }

    /// `base` with `part` taken from `other`.
    static func picture(_ base: PixelBuffer, with part: PixelRectangle, of other: PixelBuffer) -> PixelBuffer {
        PixelBuffer(size: base.size, format: base.format) { planes, strides in
            for (source, area) in [(base, PixelRectangle(x: 0, y: 0, size: base.size)), (other, part)] {
                source.withPlanes { set in
                    for plane in planes.indices {
                        guard let from = set.planes[plane].baseAddress, let to = planes[plane].baseAddress else {
                            continue
                        }
                        copyPart(
                            of: base.format.extent(of: area, plane: plane), from: from, stride: set.strides[plane],
                            to: to,
                            stride: strides[plane])
                    }
                }
            }
        }
    }

    static func frame(_ buffer: any VideoFrameBuffer, damage: [PixelRectangle]? = nil) -> VideoFrame {
        VideoFrame(buffer: buffer, timestamp: monotonicNow(), damage: damage)
    }
}

/// A temporary directory of a test, with a path that is short enough for sockets.
final class SocketFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/rtcshare-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CaptureError.systemRefused(call: "mkdtemp", errorNumber: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var environment: [String: String] { ["XDG_RUNTIME_DIR": path] }
}

/// A log of calls, for which a test can wait.
final class BroadcastLog: BroadcastObserver, BroadcastSenderObserver, CaptureSourceObserver {
    private let lines = Locked<[String]>([])
    private let changed = DispatchSemaphore(value: 0)

    var all: [String] { lines.withLock { $0 } }

    private func note(_ line: String) {
        lines.withLock { $0.append(line) }
        changed.signal()
    }

    /// Waits until `count` lines begin with `prefix`. Returns false after ten seconds.
    func wait(for prefix: String, count: Int = 1) -> Bool {
        let deadline = DispatchTime.now() + 10
        while all.filter({ $0.hasPrefix(prefix) }).count < count {
            guard changed.wait(timeout: deadline) == .success else { return false }
        }
        return true
    }

    func broadcastDidStart(transport: BroadcastTransport) { note("started \(transport.rawValue)") }
    func broadcastDidFinish(reason: String) { note("finished: \(reason)") }
    func broadcastDidFail(error: BroadcastError) { note("failed: \(error)") }
    func broadcastSenderDidConnect() { note("connected") }
    func broadcastSenderIsWaiting(reason: String) { note("waiting: \(reason)") }
    func broadcastSenderDidEnd(error: BroadcastError?) { note(error.map { "ended: \($0)" } ?? "ended") }
    func captureWasInterrupted(by interruption: CaptureInterruption) { note("interrupted: \(interruption)") }
    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) { note("goes on: \(interruption)") }
    func captureDidStop() { note("stopped") }
    func captureDidFail(error: CaptureSourceError) { note("source failed: \(error)") }
}

/// A client of the app that sends arbitrary bytes.
final class RawClient {
    private let descriptor: Int32

    init(_ endpoint: BroadcastEndpoint) throws {
        var address: SocketAddress
        switch endpoint {
        case .port(let port):
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            address = .loopback(port: port)
        case .path(let path):
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            address = try .path(path)
        }
        guard address.with({ connect(descriptor, $0, $1) }) == 0 else {
            throw CaptureError.systemRefused(call: "connect", errorNumber: errno)
        }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    /// Sends bytes, with descriptors attached to the first.
    func say(_ bytes: [UInt8], passing descriptors: [Int32]) {
        let sent = message_send(descriptor, bytes, bytes.count, descriptors, UInt32(descriptors.count))
        if sent > 0 { say(Array(bytes.dropFirst(sent))) }
    }

    func say(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Returns the next bytes, or fewer if the app closes the connection before.
    func hear(_ count: Int) -> [UInt8] {
        var heard: [UInt8] = []
        while heard.count < count {
            var part = [UInt8](repeating: 0, count: count - heard.count)
            let got = recv(descriptor, &part, part.count, 0)
            guard got > 0 else { break }
            heard += part.prefix(got)
        }
        return heard
    }

    /// Returns all bytes until the app closes the connection. Nil if it does not within ten seconds.
    func hearToEnd() -> [UInt8]? {
        var heard: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let got = recv(descriptor, &part, part.count, 0)
            if got == 0 || got < 0 && errno == ECONNRESET { return heard }
            guard got > 0 else { return nil }
            heard += part.prefix(got)
        }
    }

    /// Whether the app has hung up by now.
    var isHungUpOn: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0 || errno != EAGAIN
    }

    func finishSaying() { shutdown(descriptor, Int32(SHUT_WR)) }
}

/// A collector that can be too busy for frames.
final class BusySink: VideoSink {
    let collector = Collector()
    private let busy = Locked(false)

    var isBusy: Bool {
        get { busy.withLock { $0 } }
        set { busy.withLock { $0 = newValue } }
    }

    func receive(_ frame: VideoFrame) { collector.receive(frame) }
    var demand: FrameDemand { isBusy ? .nothing : .changes }
}
