internal import RTCShareCOpenSSL
internal import RTCShareWireFormat

/// OpenSSL's end of the wire: a `BIO` whose every read is one datagram and whose every write is one datagram.
///
/// It is here that OpenSSL's DTLS timer is kept from the wall clock, by which alone OpenSSL writes a flight again. Its
/// timer is told to last no time: as soon as a flight is written OpenSSL finds it expired, and writes the flight again,
/// under record numbers of its own, as often as it may have to be sent. These repetitions are kept until
/// ``RetransmissionTimer`` says that one is due, or until OpenSSL stops its timer, for the flight was answered.
final class DatagramBIO {
    /// Datagrams that OpenSSL wrote, oldest first.
    var outgoing: [[UInt8]] = []
    var timer: RetransmissionTimer
    /// The certificates that the peer may show.
    let expectedFingerprints: [Fingerprint]
    /// Set where the peer's certificate was none of them.
    private(set) var rejectedCertificate: [UInt8]?
    /// The peer's fatal alert, by its number.
    private(set) var fatalAlert: UInt8?
    /// Alerts of the peer so far.
    private(set) var alertsReceived: UInt64 = 0
    private var incoming: UnsafeRawBufferPointer?
    /// The datagrams of each repetition of the flight in the air, the one to send next first.
    private var repetitions: [[[UInt8]]] = []
    /// How often OpenSSL has written that flight again.
    private var repetitionsWritten = 0
    private let maximumDatagramByteCount: Int

    init(timer: RetransmissionTimer, maximumDatagramByteCount: Int, expectedFingerprints: [Fingerprint]) {
        self.timer = timer
        self.expectedFingerprints = expectedFingerprints
        self.maximumDatagramByteCount = maximumDatagramByteCount
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

    /// Has the flight in the air leave again.
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
        // With an alert OpenSSL ends the handshake. What else it writes before the flight is answered repeats it.
        if repetitions.isEmpty || datagram.first == DTLSRecords.ContentType.alert {
            outgoing.append([UInt8](datagram))
        } else {
            addToRepetition(datagram)
        }
    }

    /// OpenSSL packs a flight's records into as few datagrams as hold them the first time (RFC 6347 §4.1.1), and repeats
    /// each message in one of its own: of five datagrams one is lost much sooner than of one.
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

    /// Microseconds that OpenSSL's timer is to last, where it lasted `former`; zero at the start of a flight.
    ///
    /// Shorter than 15 ms is for OpenSSL as good as over. The longest of all is more than an hour, and should the system's
    /// clock leap that far, there is one repetition more.
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

    /// Has OpenSSL ask for the duration of its timer here.
    static func takeTimer(of ssl: OpaquePointer) {
        DTLS_set_timer_cb(ssl) { ssl, former in
            DatagramBIO.of(SSL_get_rbio(ssl))?.timerDuration(after: former) ?? .max
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
            transport.write(UnsafeRawBufferPointer(start: memory, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(method) { bio, command, _, argument in
            switch command {
            case BIO_CTRL_FLUSH:
                return 1
            case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
                // Zero where the timer stops. Newer versions lend a copy, which ends with this call.
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
