import Testing

@testable import rtcshare

@Suite("--codec")
struct CodecOptionTests {
    private func failure(_ words: String...) -> [String]? {
        do {
            _ = try RTCShareCommand.parsed(words, environment: [:])
            return nil
        } catch {
            return (error as? CommandFailure)?.lines(after: "")
        }
    }

    @Test("An automatic choice can't be combined with preferred codecs")
    func combination() {
        for order in [["vp8", "auto"], ["auto", "vp8"]] {
            let failure = failure("serve", "--source", "test", "--codec", order[0], "--codec", order[1])
            #expect(
                failure == [
                    "--codec auto chooses among all codecs, and can't be combined with others.", "Try: --codec vp8",
                ])
        }
        #expect(failure("serve", "--source", "test", "--codec", "auto", "--codec", "auto") == nil)
        #expect(failure("serve", "--source", "test", "--codec", "vp8") == nil)
    }

    @Test("A recording of a codec that its file can't contain is rejected before the share")
    func recording() {
        guard failure("serve", "--source", "test", "--codec", "h264") == nil else { return }
        for command in [["serve"], ["send", "--answer", "a"]] {
            let words = command + ["--codec", "h264", "--record", "a.b/c.webm"]
            do {
                _ = try RTCShareCommand.parsed(words, environment: [:])
                Issue.record("\(words) was accepted")
            } catch {
                #expect(
                    (error as? CommandFailure)?.lines(after: "") == [
                        "can't record the video to a.b/c.webm: files of this type can't contain H264.",
                        "Try: --record a.b/c.mkv",
                    ])
            }
        }
        #expect(failure("serve", "--source", "test", "--codec", "h264", "--record", "c.mkv") == nil)
        #expect(failure("serve", "--source", "test", "--codec", "vp8", "--record", "c.webm") == nil)
        #expect(
            failure("serve", "--source", "test", "--codec", "vp8", "--codec", "h264", "--record", "c.webm") == nil)
    }
}
