import Glibc
import RTCShareCOpenSSL
import Testing

@testable import RTCShareSecureTransport

@Suite("Security libraries")
struct SecurityLibrariesTests {
    @Test("OpenSSL frees no memory at exit, while threads may still use it")
    func exit() async {
        await #expect(processExitsWith: .exitCode(3)) {
            OPENSSL_init_crypto(UInt64(OPENSSL_INIT_ADD_ALL_DIGESTS), nil)
            OPENSSL_atexit { _exit(3) }
            Glibc.exit(EXIT_SUCCESS)
        }
        await #expect(processExitsWith: .success) {
            SecurityLibraries.skipCleanupAtExit()
            OPENSSL_init_crypto(UInt64(OPENSSL_INIT_ADD_ALL_DIGESTS), nil)
            OPENSSL_atexit { _exit(3) }
            Glibc.exit(EXIT_SUCCESS)
        }
    }
}
