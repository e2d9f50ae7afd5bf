internal import RTCShareCOpenSSL
internal import RTCShareCSRTP

/// The libraries that this module uses.
package enum SecurityLibraries {
    /// The versions that the libraries report.
    package static var versions: [(name: String, version: String)] {
        let srtp = String(cString: srtp_get_version_string()).split(separator: " ").last.map(String.init) ?? ""
        return [("OpenSSL", String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))), ("libsrtp2", srtp)]
    }

    /// Leaves the cleanup of OpenSSL's memory to the system when the process exits. OpenSSL's exit handler frees the
    /// memory while other threads still run: a thread that ends at that moment, such as that of an HTTP request, would
    /// read freed memory. Call it before any other use of OpenSSL, or it has no effect.
    package static func skipCleanupAtExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
