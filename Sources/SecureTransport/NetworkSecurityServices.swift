internal import Glibc

/// Mozilla's NSS, which some systems (Debian) build libsrtp2 on.
enum NetworkSecurityServices {
    private typealias InitializeContext =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafeMutableRawPointer?, UInt32
        ) -> OpaquePointer?

    /// `NSS_INIT_READONLY`, `NSS_INIT_NOCERTDB`, `NSS_INIT_NOMODDB` and `NSS_INIT_FORCEOPEN`: what libsrtp2 asks for,
    /// but for `NSS_INIT_OPTIMIZESPACE`.
    private static let flags: UInt32 = 0x0F

    /// Has NSS look keys up in a table that suits many of them.
    ///
    /// NSS looks up the key of every packet. Who initializes it first says how large its tables are, and libsrtp2 asks for
    /// the small ones, of 32 lists: with thousands of keys the search costs more than the encryption. Where libsrtp2 is
    /// built on another library there is nothing to do. The context is never ended: it is the process's.
    static func optimizeForManyKeys() {
        // Found only where it is loaded already, with libsrtp2.
        guard let symbol = dlsym(nil, "NSS_InitContext") else { return }
        let initialize = unsafeBitCast(symbol, to: InitializeContext.self)
        _ = initialize("", "", "", "", nil, flags)
    }
}
