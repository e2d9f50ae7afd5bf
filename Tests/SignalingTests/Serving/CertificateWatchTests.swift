import Foundation
import RTCShareLocks
import TestSupport
import Testing

@testable import RTCShareSignaling

@Suite("The certificate of a server")
struct CertificateWatchTests {
    private let folder: TemporaryFolder
    private let log = LogLines()
    private let start: Int64 = 1_790_000_000
    private let year: Int64 = 365 * 86_400

    init() throws { folder = try TemporaryFolder() }

    /// Writes a certificate that is valid for a year from `time`, and its key. Other hosts make a file of another size,
    /// whose change is seen even in the same tick of the disk's clock.
    private func write(hosts: [String] = ["localhost"], from time: Int64) throws {
        let pem = try #require(try ServerCertificate(selfSignedFor: hosts, unixTime: time).pem)
        _ = try folder.write(pem.certificate, to: "own.pem")
        _ = try folder.write(pem.key, to: "own.key")
    }

    private func watch(at time: Int64) throws -> CertificateWatch {
        let certificate = ServerCertificate(
            certificateFile: folder.file("own.pem").path, keyFile: folder.file("own.key").path)
        return try CertificateWatch(certificate, logger: log.logger(label: "test"), at: time)
    }

    private func count(_ words: String) -> Int {
        log.all.withLock { lines in lines.count { $0.contains(words) } }
    }

    @Test("A renewed certificate is used after its files have changed")
    func renewal() throws {
        try write(from: start)
        let watch = try watch(at: start)
        watch.check(at: start)
        #expect(watch.notAfter == start + year && count("certificate") == 0)
        try write(hosts: ["localhost", "renewed.example"], from: start + 100)
        watch.check(at: start)
        #expect(watch.notAfter == start + 100 + year)
    }

    @Test("A changed certificate that can't be used is reported once, and the old one stays in use")
    func unusable() throws {
        try write(from: start)
        let watch = try watch(at: start)
        for text in ["no certificate", "no certificate again"] {
            _ = try folder.write(text, to: "own.pem")
            for _ in 0..<2 { watch.check(at: start) }
        }
        #expect(watch.notAfter == start + year && count("can't be used") == 1)
        try write(hosts: ["localhost", "renewed.example"], from: start + 100)
        watch.check(at: start)
        #expect(watch.notAfter == start + 100 + year && count("can't be used") == 1)
    }

    @Test("A certificate that could not be read at first is used as soon as it can be")
    func unreadable() throws {
        try write(from: start)
        let watch = try watch(at: start)
        try write(hosts: ["localhost", "renewed.example"], from: start + 100)
        // The file does not change when it can be read again: here, as its folder was away.
        let (key, away) = (folder.file("own.key").path, folder.file("away.key").path)
        try FileManager.default.moveItem(atPath: key, toPath: away)
        watch.check(at: start)
        #expect(watch.notAfter == start + year && count("can't be used") == 1)
        try FileManager.default.moveItem(atPath: away, toPath: key)
        watch.check(at: start)
        #expect(watch.notAfter == start + 100 + year)
    }

    @Test("An expired certificate is reported once, at the start or later")
    func expiry() throws {
        try write(from: start)
        let watch = try watch(at: start)
        watch.check(at: start + year)
        #expect(count("expired") == 0)
        for time in 1...3 { watch.check(at: start + year + Int64(time)) }
        #expect(count("expired") == 1)
        let late = try self.watch(at: start + year + 1)
        #expect(count("expired") == 2 && late.notAfter == start + year)
    }
}
