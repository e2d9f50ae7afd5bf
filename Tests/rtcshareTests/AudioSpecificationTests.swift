import RTCShareCapture
import RTCShareMedia
import Testing

@testable import rtcshare

@Suite struct AudioSpecificationTests {
    @Test(
        "Each form of SPEC is parsed and written unchanged",
        arguments: [
            ("none", AudioSpecification.none), ("tone", .tone(frequency: 440)), ("tone:20", .tone(frequency: 20)),
            ("tone:261.63", .tone(frequency: 261.63)), ("beep", .beep),
            ("file:a.wav", .file(path: "a.wav", loop: false)),
            ("file:/tmp/a:b.wav:loop", .file(path: "/tmp/a:b.wav", loop: true)),
            ("microphone", .microphone(device: nil)), ("microphone:a:b", .microphone(device: "a:b")),
            ("system", .system(sink: nil)), ("system:speaker", .system(sink: "speaker")),
        ])
    func forms(text: String, expected: AudioSpecification) throws {
        #expect(try AudioSpecification(text) == expected)
        #expect(expected.description == text)
    }

    @Test("A tone without a frequency is 440 Hz")
    func bareTone() throws {
        #expect(try AudioSpecification("tone") == .tone(frequency: 440))
    }

    @Test(
        "An invalid SPEC is an error with the reason and a valid form",
        arguments: [
            "", ":", "None", "none:", "none:x", "beep:3", "tone:", "tone:19", "tone:20001", "tone:nan", "tone:inf",
            "tone:-440", "tone:a", "file", "file:", "file::loop", "file:-", "microphone:", "system:", "mic", "test",
        ])
    func faults(text: String) {
        do throws(SpecificationError) {
            _ = try AudioSpecification(text)
            Issue.record("'\(text)' was taken")
        } catch {
            guard case .invalidSpecification(text, let problem, let remedy) = error else {
                Issue.record("'\(text)' gave \(error)")
                return
            }
            #expect(!problem.isEmpty)
            #expect(!remedy.isEmpty)
        }
    }

    @Test("An audio device is shared by a SPEC of its kind with its name")
    func devices() {
        let devices = [("desk", SoundDeviceKind.source), ("first", .sink)].map {
            AudioDevice(name: $0.0, description: "", kind: $0.1, isDefault: false)
        }
        #expect(devices.map(\.specification.description) == ["microphone:desk", "system:first"])
    }

    @Test("The SPEC none opens nothing, and generators open by their kind")
    func opened() throws {
        #expect(try AudioSpecification("none").open(environment: [:]) == nil)
        let tone = try AudioSpecification("tone:1000").open(environment: [:]) as? ToneSource
        #expect(tone?.frequency == 1000)
        #expect(tone?.audioFormat == AudioFormat(sampleRate: 48000, channels: 2))
        let beep = try AudioSpecification("beep").open(environment: [:])
        #expect(beep is BeepSource)
        #expect(beep?.audioFormat.isVoice == false)
    }
}
