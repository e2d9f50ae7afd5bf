import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

struct PortMappingMessageTests {
    private static let request = PCPMapRequest(
        nonceHigh: 0x0102_0304, nonceLow: 0x0506_0708_090A_0B0C, port: ForwardedPort(.udp, 8080),
        client: .v4(0x0A00_0102), suggested: TransportAddress(ip: .v4(0xCB00_7101), port: 9000), lifetime: 600)

    /// A successful answer to ``request``: the router forwards 203.0.113.1:9001 for 300 seconds.
    private static let answer: [UInt8] =
        [2, 0x81, 0, 0, 0, 0, 1, 44, 0, 0, 0, 77] + [UInt8](repeating: 0, count: 12) + Array(1...12) + [17, 0, 0, 0]
        + [0x1F, 0x90, 0x23, 0x29] + [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 203, 0, 113, 1]

    @Test("A MAP request of PCP has the layout of RFC 6887 §7.1 and §11.1, with IPv4 addresses in IPv6 form")
    func pcpRequest() {
        let client: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 10, 0, 1, 2]
        let outside: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 203, 0, 113, 1]
        let header: [UInt8] = [2, 1, 0, 0, 0, 0, 2, 88] + client
        let ports: [UInt8] = [17, 0, 0, 0, 0x1F, 0x90, 0x23, 0x28]
        #expect(Self.request.encoded == header + Array(1...12) + ports + outside)
        var other = Self.request
        (other.port, other.suggested, other.lifetime) = (ForwardedPort(.tcp, 443), nil, 0)
        let unspecified: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 0, 0, 0, 0]
        #expect(
            other.encoded
                == [2, 1, 0, 0, 0, 0, 0, 0] + client + Array(1...12) + [6, 0, 0, 0, 1, 187, 0, 0] + unspecified)
    }

    @Test("An answer of PCP gives the outside address, the lifetime and the epoch of its request's mapping")
    func pcpAnswer() throws {
        guard case .mapped(let mapping, 300, 77) = PCPAnswer(parsing: Self.answer.span.bytes) else {
            Issue.record("not parsed")
            return
        }
        #expect(mapping.outside == TransportAddress(ip: .v4(0xCB00_7101), port: 9001))
        #expect(mapping.answers(Self.request))
        var other = Self.request
        other.nonceLow += 1
        #expect(!mapping.answers(other))
        other = Self.request
        other.port = ForwardedPort(.tcp, 8080)
        #expect(!mapping.answers(other))
    }

    @Test(
        "Each result code of PCP has a reason",
        arguments: [
            (2, .notAuthorized), (7, .noOutsideAddress), (8, .noResources), (10, .noResources), (11, .portTaken),
            (9, .unsupported), (12, .addressMismatch), (3, .other(3)), (255, .other(255)),
        ] as [(UInt8, PortMappingRefusal)])
    func pcpError(code: UInt8, reason: PortMappingRefusal) {
        var bytes = Self.answer
        bytes[3] = code
        guard case .refused(code, let mapping, 300, 77) = PCPAnswer(parsing: bytes.span.bytes) else {
            Issue.record("not parsed")
            return
        }
        #expect(mapping.answers(Self.request) && PortMappingRefusal(pcp: code) == reason)
    }

    @Test("An answer of an older PCP version is recognized, and other versions, requests and operations are ignored")
    func pcpVersions() {
        var bytes = Self.answer
        (bytes[0], bytes[3]) = (1, 1)
        #expect(PCPAnswer(parsing: bytes.span.bytes) == .unsupportedVersion)
        bytes[3] = 0
        #expect(PCPAnswer(parsing: bytes.span.bytes) == nil)
        #expect(PCPAnswer(parsing: Self.request.encoded.span.bytes) == nil)
        bytes = Self.answer
        bytes[1] = 0x82
        #expect(PCPAnswer(parsing: bytes.span.bytes) == nil)
    }

    @Test("Truncated and changed answers give nil or another answer, and never trap")
    func damage() {
        let answers: [[UInt8]] = [
            Self.answer, [0, 128, 0, 0, 0, 0, 0, 9, 203, 0, 113, 1],
            [0, 129, 0, 0, 0, 0, 0, 9, 31, 144, 35, 41, 0, 0, 1, 44],
        ]
        for answer in answers {
            for count in 0..<answer.count {
                let bytes = Array(answer.prefix(count))
                #expect(PCPAnswer(parsing: bytes.span.bytes) == nil, "\(count) bytes")
                #expect(NATPMPAnswer(parsing: bytes.span.bytes) == nil, "\(count) bytes")
            }
            for index in answer.indices {
                for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var bytes = answer
                    bytes[index] = value
                    _ = (PCPAnswer(parsing: bytes.span.bytes), NATPMPAnswer(parsing: bytes.span.bytes))
                }
            }
        }
        #expect(PCPAnswer(parsing: (Self.answer + [UInt8](repeating: 0, count: 1044)).span.bytes) == nil)
    }

    @Test("Requests of NAT-PMP have the layout of RFC 6886 §3.2 and §3.3")
    func natPMPRequests() {
        #expect(NATPMPRequest.outsideAddress.encoded == [0, 0])
        #expect(
            NATPMPRequest.map(ForwardedPort(.udp, 8080), outside: 9000, lifetime: 600).encoded
                == [0, 1, 0, 0, 0x1F, 0x90, 0x23, 0x28, 0, 0, 2, 88])
        #expect(
            NATPMPRequest.map(ForwardedPort(.tcp, 8080), outside: 0, lifetime: 0).encoded
                == [0, 2, 0, 0, 0x1F, 0x90, 0, 0, 0, 0, 0, 0])
    }

    @Test("Answers of NAT-PMP give the outside address, a mapping or an error")
    func natPMPAnswers() {
        let address: [UInt8] = [0, 128, 0, 0, 0, 0, 0, 9, 203, 0, 113, 1]
        let first = NATPMPAnswer(parsing: address.span.bytes)
        #expect(first?.epoch == 9 && first?.content == .outsideAddress(.v4(0xCB00_7101)))
        let mapping: [UInt8] = [0, 130, 0, 0, 0, 0, 0, 9, 0x1F, 0x90, 0x23, 0x29, 0, 0, 1, 44]
        let second = NATPMPAnswer(parsing: mapping.span.bytes)
        #expect(second?.operation == 2 && second?.content == .mapped(inside: 8080, outside: 9001, lifetime: 300))
        let refusal: [UInt8] = [0, 129, 0, 2, 0, 0, 0, 9]
        #expect(NATPMPAnswer(parsing: refusal.span.bytes)?.content == .refused(2))
        let version: [UInt8] = [0, 129, 0, 1, 0, 0, 0, 9]
        #expect(NATPMPAnswer(parsing: version.span.bytes)?.isUnsupportedVersion == true)
        #expect(NATPMPAnswer(parsing: NATPMPRequest.outsideAddress.encoded.span.bytes) == nil, "a request")
    }

    @Test(
        "The reach of an outside address is the internet, another router's network or a provider's",
        arguments: [
            ("203.0.113.1", .everywhere), ("100.63.255.255", .everywhere), ("100.64.0.0", .carrier),
            ("100.127.255.255", .carrier), ("100.128.0.0", .everywhere), ("10.0.0.1", .otherNetwork),
            ("172.16.0.1", .otherNetwork), ("172.32.0.1", .everywhere), ("192.168.1.1", .otherNetwork),
            ("169.254.1.1", .otherNetwork),
        ] as [(String, OutsideReach)])
    func reach(address: String, reach: OutsideReach) throws {
        #expect(OutsideReach(try #require(IPAddress(address))) == reach)
    }
}
