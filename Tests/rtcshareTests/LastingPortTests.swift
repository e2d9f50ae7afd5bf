import Testing

@testable import rtcshare

@Suite("The ports of an offer")
struct LastingPortTests {
    @Test("They are below those that the system gives to other programs, if it leaves enough")
    func range() {
        let ports = LastingPort.candidates(outside: "32768\t60999\n")
        #expect(!ports.isEmpty && ports.allSatisfy { (10_000..<32_768).contains($0) })
        for text in [nil, "", "nothing", "1024 65535", "10999 65535", "99999 100000", "-1 2"] {
            #expect(LastingPort.candidates(outside: text).isEmpty, "\(text ?? "")")
        }
    }
}
