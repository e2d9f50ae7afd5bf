internal import RTCShareCOpenSSL
internal import RTCShareWireFormat

/// A `BIO` for OpenSSL whose every read and every write is one datagram.
///
/// It decouples OpenSSL's DTLS timer from the wall clock, the only clock by which OpenSSL retransmits a flight.
/// OpenSSL's timer gets a duration of zero: as soon as a flight is written, OpenSSL finds the timer expired and writes
/// the flight again, with new record numbers, up to the maximum number of times. These retransmissions are stored until
/// ``RetransmissionTimer`` reports that one is due, or until OpenSSL stops its timer because the flight was answered.
final class DatagramBIO {
    /// The datagrams that OpenSSL wrote, oldest first.
    var outgoing: [[UInt8]] = []
    var timer: RetransmissionTimer
    /// The fingerprints of the certificates that the peer can use.
    let expectedFingerprints: [Fingerprint]
    /// The peer's certificate if it matches none of them.
    private(set) var rejectedCertificate: [UInt8]?
    /// The number of the peer's fatal alert.
    private(set) var fatalAlert: UInt8?
    /// The number of the peer's alerts.
    private(set) var alertsReceived: UInt64 = 0
    private var incoming: UnsafeRawBufferPointer?
    /// The datagrams of each stored retransmission of the current flight, in order.
    private var repetitions: [[[UInt8]]] = []
    /// The number of times that OpenSSL has written that flight again.
    private var repetitionsWritten = 0
    private let maximumDatagramByteCount: Int

    init(timer: RetransmissionTimer, maximumDatagramByteCount: Int, expectedFingerprints: [Fingerprint]) {
        self.timer = timer
        self.expectedFingerprints = expectedFingerprints
        self.maximumDatagramByteCount = maximumDatagramByteCount
    }

    /// Returns a new `BIO`, which the caller owns and which must not outlive this object.
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

    /// Provides a datagram to OpenSSL while `body` runs.
    func lending(_ datagram: UnsafeRawBufferPointer, _ body: () -> Void) {
        incoming = datagram
        body()
        incoming = nil
    }

    /// Retransmits the current flight.
    func repeatFlight() {
        if !repetitions.isEmpty { outgoing += repetitions.removeFirst() }
        timer.start()
    }

    /// Whether a flight waits for its answer.
    var hasFlightInAir: Bool { timer.deadline != nil }

    func accepts(certificate derBytes: [UInt8]) -> Bool {
        if expectedFingerprints.accept(certificate: derBytes) { return true }
        rejectedCertificate = derBytes
        return false
    }

    func recordAlert(isFatal: Bool, code: UInt8) {
        alertsReceived += 1
        if isFatal && fatalAlert == nil { fatalAlert = code }
    }

    private func read(into memory: UnsafeMutableRawPointer, capacity: Int) -> Int32 {
        guard let datagram = incoming, let base = datagram.baseAddress else { return -1 }
        incoming = nil
        let count = min(capacity, datagram.count)
        memory.copyMemory(from: base, byteCount: count)
        return Int32(clamping: count)
    }

    private func write(_ datagram: UnsafeRawBufferPointer) {
        // With an alert OpenSSL ends the handshake. All its other output before the answer repeats the flight.
        if repetitions.isEmpty || datagram.first == DTLSRecords.ContentType.alert {
            outgoing.append([UInt8](datagram))
        } else {
            addToRepetition(datagram)
        }
    }

    /// Packs the records of a retransmission into few datagrams. OpenSSL does so for the first transmission (RFC 6347
    /// §4.1.1), but retransmits each message in its own datagram, and one loss among five datagrams is much more
    /// likely.
    private func addToRepetition(_ datagram: UnsafeRawBufferPointer) {
        let newest = repetitions.count - 1
        if let last = repetitions[newest].indices.last,
            repetitions[newest][last].count + datagram.count <= maximumDatagramByteCount
        {
            repetitions[newest][last] += datagram
        } else {
            repetitions[newest].append([UInt8](datagram))
        }
    }

    private func flightWasAnswered() {
        repetitions = []
        timer.stop()
    }

    /// Returns the duration of OpenSSL's timer in microseconds, after it was `former`; zero at the start of a flight.
    ///
    /// OpenSSL treats less than 15 ms as expired. The maximum is more than an hour. If the system clock jumps that far,
    /// there is one retransmission more.
    fileprivate func timerDuration(after former: UInt32) -> UInt32 {
        if former == 0 {
            repetitions = []
            repetitionsWritten = 0
            timer.start()
        } else {
            repetitions.append([])
            repetitionsWritten += 1
        }
        return repetitionsWritten < RetransmissionTimer.maximumRetransmissions ? 1 : .max
    }

    /// Sets the callback with which OpenSSL requests the duration of its timer.
    static func takeTimer(of ssl: OpaquePointer) {
        DTLS_set_timer_cb(ssl) { ssl, former in
            DatagramBIO.of(SSL_get_rbio(ssl))?.timerDuration(after: former) ?? .max
        }
    }

    /// OpenSSL's table of functions. `nonisolated(unsafe)`: it is made once, and never changed or freed.
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
            transport.write(UnsafeRawBufferPointer(start: memory, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(method) { bio, command, _, argument in
            switch command {
            case BIO_CTRL_FLUSH:
                return 1
            case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
                // The argument is zero if the timer stops. Newer versions lend a copy that ends with this call.
                guard let transport = DatagramBIO.of(bio), let argument else { return 0 }
                let timeout = argument.load(as: timeval.self)
                if timeout.tv_sec == 0 && timeout.tv_usec == 0 { transport.flightWasAnswered() }
                return 1
            default:
                return 0
            }
        }
        return method
    }()
}
