internal import RTCShareCOpenSSL
internal import RTCShareCSRTP

/// The libraries that this module runs on.
package enum SecurityLibraries {
    /// Their versions, as they tell them.
    package static var versions: [(name: String, version: String)] {
        let srtp = String(cString: srtp_get_version_string()).split(separator: " ").last.map(String.init) ?? ""
        return [("OpenSSL", String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))), ("libsrtp2", srtp)]
    }

    /// Leaves what OpenSSL holds to the system when the process exits. OpenSSL's own exit handler frees it while other threads
    /// still run: a thread that ends at that moment, as one of an HTTP request does, would read what is freed. Has an effect only
    /// before the first other use of OpenSSL.
    package static func skipCleanupAtExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
