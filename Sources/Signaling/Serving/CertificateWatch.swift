internal import Glibc
internal import Logging
internal import RTCShareLocks
internal import RTCShareSecureTransport

/// The certificate of a server for its next connections. When its files change, for example because the certificate was
/// renewed, the new one is used.
final class CertificateWatch: Sendable {
    private struct State {
        var context: TLSContext
        /// The versions of the files that are in use.
        var versions: [[Int]]
        /// Whether it was reported that changed files can't be used.
        var didReportFailure = false
        /// Whether it was reported that the certificate has expired.
        var didReportExpiry = false
    }

    private let certificate: ServerCertificate
    private let logger: Logger
    private let state: Locked<State>

    private static let interval = Duration.seconds(60)

    /// Reads the certificate's files, which may be on a slow disk.
    /// - Throws: An error if a file can't be read, or if key and certificate don't match.
    init(_ certificate: ServerCertificate, logger: Logger, at unixTime: Int64 = Int64(time(nil))) throws {
        self.certificate = certificate
        self.logger = logger
        let versions = certificate.fileVersions()
        state = Locked(State(context: try certificate.makeContext(), versions: versions))
        reportExpiry(at: unixTime)
    }

    /// The context for the next connection.
    var context: TLSContext { state.withLock { $0.context } }

    /// The end of the certificate's validity, in seconds since 1 January 1970.
    var notAfter: Int64? { context.notAfter }

    /// Checks the files at intervals until the task is canceled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            await WorkerThread.run(named: "certificate") { [self] in check() }
        }
    }

    /// Uses the files if they have changed, and reports an expired certificate. May block on a slow disk.
    func check(at unixTime: Int64 = Int64(time(nil))) {
        let versions = certificate.fileVersions()
        if state.withLock({ $0.versions != versions }) { renew(versions) }
        reportExpiry(at: unixTime)
    }

    private func renew(_ versions: [[Int]]) {
        do {
            let context = try certificate.makeContext()
            state.withLock { $0 = State(context: context, versions: versions) }
            logger.info("\(certificate.name) has changed, and is used from now on")
        } catch {
            let isFirst = state.withLock { state in
                defer { state.didReportFailure = true }
                return !state.didReportFailure
            }
            guard isFirst else { return }
            logger.warning("\(certificate.name) has changed and can't be used, so the old one stays in use: \(error)")
        }
    }

    private func reportExpiry(at unixTime: Int64) {
        guard let notAfter, unixTime > notAfter else { return }
        let isFirst = state.withLock { state in
            defer { state.didReportExpiry = true }
            return !state.didReportExpiry
        }
        if isFirst { logger.warning("\(certificate.name) has expired, and browsers reject it") }
    }
}
