import Foundation

/// What libFuzzer gives its inputs to (https://llvm.org/docs/LibFuzzer.html). The target is the one that the environment's
/// `FUZZ_TARGET` names; `.ci/fuzz` builds and runs all.
///
/// An input that is refused is refused by an error. A crash, a broken rule (``expect(_:_:)``), an input that takes too
/// long or too much memory, and whatever the address sanitizer sees is a finding.
protocol FuzzTarget: SendableMetatype {
    /// What is made once and is in the same state before each input.
    init() throws

    /// Takes an input. What is thrown is a refusal.
    func run(_ input: [UInt8]) throws

    /// Inputs to begin with, by the names of their files: what the library itself writes.
    func seeds() throws -> [String: [UInt8]]
}

/// All of them, by the names that `.ci/fuzz` takes.
private let targets: [String: any FuzzTarget.Type] = [
    "audio-jitter-buffer": AudioJitterBufferTarget.self,
    "av1-headers": AV1HeadersTarget.self,
    "av1-payload": AV1PayloadTarget.self,
    "broadcast-reader": BroadcastReaderTarget.self,
    "call": CallTarget.self,
    "camera-parameter": CameraParameterTarget.self,
    "control": ControlTarget.self,
    "dependency-descriptor": DependencyDescriptorTarget.self,
    "dtls": DTLSTarget.self,
    "frame-memory": FrameMemoryTarget.self,
    "http-response": HTTPResponseTarget.self,
    "janus": JanusTarget.self,
    "multicast-dns": MulticastDNSTarget.self,
    "requests": RequestsTarget.self,
    "rtcp": RTCPTarget.self,
    "rtp": RTPTarget.self,
    "rtpdump": RTPDumpTarget.self,
    "sdp": SDPTarget.self,
    "session": SessionTarget.self,
    "signaling": SignalingTarget.self,
    "srtp": SRTPTarget.self,
    "statistics": StatisticsTarget.self,
    "stored-share": StoredShareTarget.self,
    "stream-framers": StreamFramersTarget.self,
    "stun": STUNTarget.self,
    "turn": TURNTarget.self,
    "vp8": VP8Target.self,
    "wave": WAVETarget.self,
    "web-socket": WebSocketTarget.self,
    "y4m": Y4MTarget.self,
]

/// libFuzzer has one thread.
nonisolated(unsafe) private let target: any FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let type = targets[name] else {
        print(targets.keys.sorted().joined(separator: "\n"))
        exit(64)
    }
    do {
        return try type.init()
    } catch {
        fatalError("the target \(name) can't be made: \(error)")
    }
}()

/// Has a folder that `FUZZ_SEEDS` names filled in place of a run.
@_cdecl("LLVMFuzzerInitialize")
func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    let target = target
    guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
    do {
        for (name, bytes) in try target.seeds() {
            try Data(bytes).write(to: URL(filePath: folder).appending(path: name))
        }
    } catch {
        fatalError("the seeds can't be written: \(error)")
    }
    exit(0)
}

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    do {
        try target.run(input)
    } catch {
        // Refused, as most inputs are.
    }
    return 0
}

/// Ends the process with a finding unless a rule holds.
func expect(_ holds: Bool, _ rule: @autoclosure () -> String, line: Int = #line, file: StaticString = #fileID) {
    guard holds else { fatalError("\(file):\(line): \(rule())") }
}
