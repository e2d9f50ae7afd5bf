import Logging
import Testing

@testable import rtcshare

@Suite("The values of RTCSHARE_LOG") struct LogChoiceTests {
    @Test(
        "A level holds for the whole library, and a topic is logged only if it is named",
        arguments: [
            ("", .warning, .critical), ("debug", .debug, .critical), ("rate", .warning, .trace),
            ("INFO,rate", .info, .trace), ("rate,info", .info, .trace), ("foo,debug", .debug, .critical),
        ] as [(String, Logger.Level, Logger.Level)])
    func levels(text: String, library: Logger.Level, rate: Logger.Level) {
        let choice = LogChoice(text)
        #expect(choice.level(ofLabel: "rtcshare.connection") == library)
        #expect(choice.level(ofLabel: "rtcshare.rate") == rate)
        #expect(choice.unknown == (text.hasPrefix("foo") ? "foo" : nil))
    }
}
