internal import RTCShareCOpenSSL
internal import RTCShareCSRTP

/// The libraries that this module runs on.
package enum SecurityLibraries {
    /// Their versions, as they tell them.
    package static var versions: [(name: String, version: String)] {
        let srtp = String(cString: srtp_get_version_string()).split(separator: " ").last.map(String.init) ?? ""
        return [("OpenSSL", String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))), ("libsrtp2", srtp)]
    }
}
