internal import COpenSSL
internal import WireFormat

/// OpenSSL's end of the wire: a `BIO` whose every read is one datagram and whose every write is one datagram.
///
/// It is here that OpenSSL's DTLS timer is kept from the wall clock. OpenSSL holds the point of its next timeout in a
/// `timeval` and hands the address of it over each time that it sets the timer or clears it. A timer that is set is
/// moved to a time that never comes, and ``RetransmissionTimer`` notes when it is due; then it is moved to a time long
/// past, just before OpenSSL is asked to look at it.
final class DatagramBIO {
    /// Datagrams that OpenSSL wrote, oldest first.
    var outgoing: [[UInt8]] = []
    var timer: RetransmissionTimer
    /// Which certificates the peer may show; nil while its session description is not known.
    var expectedFingerprints: [Fingerprint]?
    /// Set where the peer's certificate was none of them.
    private(set) var rejectedCertificate: [UInt8]?
    /// The peer's fatal alert, by its number.
    private(set) var fatalAlert: UInt8?
    /// Alerts of the peer so far.
    private(set) var alertsReceived: UInt64 = 0
    private var incoming: UnsafeRawBufferPointer?
    private var nextTimeout: UnsafeMutablePointer<timeval>?

    init(timer: RetransmissionTimer) {
        self.timer = timer
    }

    /// The `BIO`, which the caller owns and which must not outlive this object.
    func makeBIO() -> OpaquePointer? {
        guard let method = Self.method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    static func of(_ bio: OpaquePointer?) -> DatagramBIO? {
        guard let bio, let data = BIO_get_data(bio) else { return nil }
        return Unmanaged<DatagramBIO>.fromOpaque(data).takeUnretainedValue()
    }

    /// Lends a datagram for as long as `body` runs; OpenSSL reads it from there.
    func lending(_ datagram: UnsafeRawBufferPointer, _ body: () -> Void) {
        incoming = datagram
        body()
        incoming = nil
    }

    /// Makes OpenSSL's timer expired, where one is set.
    func expireTimer() {
        nextTimeout?.pointee = timeval(tv_sec: 1, tv_usec: 0)
    }

    func accepts(certificate derBytes: [UInt8]) -> Bool {
        guard let expectedFingerprints else { return true }
        if expectedFingerprints.accept(certificate: derBytes) { return true }
        rejectedCertificate = derBytes
        return false
    }

    func noteAlert(isFatal: Bool, code: UInt8) {
        alertsReceived += 1
        if isFatal && fatalAlert == nil { fatalAlert = code }
    }

    /// Some 35 000 years on, and far enough from overflow for OpenSSL to subtract and add.
    private static let never = timeval(tv_sec: 1 << 40, tv_usec: 0)

    private func read(into memory: UnsafeMutableRawPointer, capacity: Int) -> Int32 {
        guard let datagram = incoming, let base = datagram.baseAddress else { return -1 }
        incoming = nil
        let count = min(capacity, datagram.count)
        memory.copyMemory(from: base, byteCount: count)
        return Int32(clamping: count)
    }

    private func timerChanged(_ timeout: UnsafeMutablePointer<timeval>) {
        if timeout.pointee.tv_sec == 0 && timeout.pointee.tv_usec == 0 {
            nextTimeout = nil
            timer.stop()
        } else {
            timeout.pointee = Self.never
            nextTimeout = timeout
            timer.start()
        }
    }

    /// OpenSSL's table of functions. `nonisolated(unsafe)`: made once, never changed, and never freed.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams") else { return nil }
        BIO_meth_set_read(method) { bio, memory, capacity in
            guard let bio, let memory, capacity > 0, let transport = DatagramBIO.of(bio) else { return -1 }
            copenssl_bio_clear_retry(bio)
            let count = transport.read(into: memory, capacity: Int(capacity))
            if count < 0 { copenssl_bio_set_retry_read(bio) }
            return count
        }
        BIO_meth_set_write(method) { bio, memory, count in
            guard let bio, let memory, count > 0, let transport = DatagramBIO.of(bio) else { return -1 }
            copenssl_bio_clear_retry(bio)
            transport.outgoing.append([UInt8](UnsafeRawBufferPointer(start: memory, count: Int(count))))
            return count
        }
        BIO_meth_set_ctrl(method) { bio, command, _, argument in
            switch command {
            case BIO_CTRL_FLUSH:
                return 1
            case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
                guard let transport = DatagramBIO.of(bio), let argument else { return 0 }
                transport.timerChanged(argument.assumingMemoryBound(to: timeval.self))
                return 1
            default:
                return 0
            }
        }
        return method
    }()
}
