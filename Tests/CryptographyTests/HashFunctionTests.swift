import RTCShareCryptography
import Testing

@Suite struct HashFunctionTests {
    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    }

    @Test(
        "Digests of \"abc\" are those of RFC 1321, RFC 3174 and FIPS 180-4",
        arguments: [
            (HashFunction.md5, "900150983cd24fb0d6963f7d28e17f72"),
            (HashFunction.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (HashFunction.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ])
    func digest(function: HashFunction, expected: String) throws {
        let bytes = Array("abc".utf8)
        let digest = try function.digest(of: bytes.span.bytes)
        #expect(hexadecimal(digest) == expected)
        #expect(digest.count == function.digestByteCount)
    }

    @Test(
        "HMAC-SHA1 agrees with RFC 2202",
        arguments: [
            ([UInt8](repeating: 0x0B, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
            (Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            ([], "", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d"),
        ])
    func authenticationCode(key: [UInt8], message: String, expected: String) throws {
        let code = try HashFunction.sha1.authenticationCode(
            key: key.span.bytes, message: Array(message.utf8).span.bytes)
        #expect(hexadecimal(code) == expected)
    }

    @Test("The comparison includes every byte and the length")
    func comparison() {
        func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
            isEqualInConstantTime(left.span.bytes, right.span.bytes)
        }
        let tag: [UInt8] = [1, 2, 3, 4]
        #expect(areEqual(tag, tag))
        #expect(areEqual([], []))
        #expect(!areEqual(tag, [1, 2, 3]))
        for index in tag.indices {
            var other = tag
            other[index] ^= 0x80
            #expect(!areEqual(tag, other))
        }
    }
}
