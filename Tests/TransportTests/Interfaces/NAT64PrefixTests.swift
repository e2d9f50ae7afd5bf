import RTCShareWireFormat
import Testing

@Suite struct NAT64PrefixTests {
    /// For prefixes of each length, the address of `ipv4only.arpa`, and that of 192.0.2.33 (RFC 6052 §2.4).
    @Test(
        "The prefix in the address of ipv4only.arpa translates other addresses",
        arguments: [
            ("2001:db8:c000:aa::", "2001:db8:c000:221::"),
            ("2001:db8:1c0:0:aa::", "2001:db8:1c0:2:21::"),
            ("2001:db8:122:c000:0:aa00::", "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:3c0:0:aa::", "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344:c0:0:ab00:0", "2001:db8:122:344:c0:2:2100:0"),
            ("2001:db8:122:344::192.0.0.171", "2001:db8:122:344::192.0.2.33"),
            ("64:ff9b::192.0.0.170", "64:ff9b::192.0.2.33"),
        ])
    func vectors(found: String, expected: String) throws {
        let address = try #require(IPAddress(found))
        let prefix = try #require(NAT64Prefix(discoveredIn: address))
        let translated = prefix.translate(try #require(IPAddress("192.0.2.33")))
        #expect(translated == IPAddress(expected))
    }

    @Test(
        "An address without a well-known one, or with two, has no prefix",
        arguments: ["192.0.0.170", "2001:db8::1", "::", "2001:db8:c000:aa::192.0.0.170"])
    func none(text: String) throws {
        #expect(NAT64Prefix(discoveredIn: try #require(IPAddress(text))) == nil)
    }

    @Test("Addresses of this machine or its link, of groups and of IPv6 are not translated")
    func untranslated() throws {
        let found = try #require(IPAddress("64:ff9b::192.0.0.170"))
        let prefix = try #require(NAT64Prefix(discoveredIn: found))
        for text in ["127.0.0.1", "169.254.7.1", "224.0.0.251", "0.0.0.0", "2001:db8::1"] {
            #expect(prefix.translate(try #require(IPAddress(text))) == nil, "\(text)")
        }
    }
}
