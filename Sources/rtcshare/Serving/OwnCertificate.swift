internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareSignaling

/// The certificate of `--tls-self-signed`, which is kept across starts, so that browsers ask only once.
enum OwnCertificate {
    private struct Stored: Codable {
        let hosts: [String]
        let certificate: String
        let key: String
    }

    /// The path `$XDG_STATE_HOME/rtcshare/certificate.json`, of mode 0600.
    private static var path: String {
        URL(filePath: SessionFile.defaultPath).deletingLastPathComponent().appending(path: "certificate.json").path
    }

    static func certificate(for hosts: [String], now: Date) throws -> ServerCertificate {
        let time = Int64(now.timeIntervalSince1970)
        if let text = try? SecretFile.readText(path, what: "certificate", maximumBytes: 64 * 1024),
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(text.utf8)),
            Set(stored.hosts).isSuperset(of: hosts),
            let known = try? ServerCertificate(pem: (stored.certificate, stored.key)),
            known.isValid(at: time + 7 * 86_400)
        {
            return known
        }
        let made = try ServerCertificate(selfSignedFor: hosts, unixTime: time)
        guard let pem = made.pem else { return made }
        let stored = Stored(hosts: hosts, certificate: pem.certificate, key: pem.key)
        do {
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try PrivateFile(path: path).write(try JSONEncoder().encode(stored))
        } catch {
            Terminal.shared.say(
                "Can't save the certificate for the next start: \(StandardStreams.reason(of: error, path: path)).")
        }
        return made
    }
}
