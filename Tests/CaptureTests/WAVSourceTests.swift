import Foundation
import RTCShareAudioCoding
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite struct WAVSourceTests {
    /// Creates a file of a ramp with different channels, and returns its path and the expected samples.
    private func file(sampleRate: Int, channels: Int, frames: Int) throws -> (path: String, samples: [Float]) {
        let path = NSTemporaryDirectory() + "sound-\(UUID().uuidString).wav"
        let samples = (0..<frames * channels).map { Float($0 % 2000 - 1000) / 32768 }
        try WAVFile.write(samples, sampleRate: sampleRate, channels: channels, to: path)
        return (path, samples)
    }

    @Test(
        "A file is delivered in blocks of 20 ms with its own rate and channels, and ends without an error",
        arguments: [(48000, 2, 5000), (44100, 1, 4000), (11025, 2, 1000), (8000, 1, 801)])
    func plain(rate: Int, channels: Int, count: Int) throws {
        let (path, samples) = try file(sampleRate: rate, channels: channels, frames: count)
        defer { unlink(path) }
        let source = try WAVSource(path: path)
        #expect(source.audioFormat == AudioFormat(sampleRate: rate, channels: channels))
        let (sink, observer) = (SoundCollector(), CaptureObserver())
        source.add(sink)
        source.add(observer: observer)
        for round in 1...2 {
            try source.start()
            #expect(observer.wait(for: 2 * round))
            source.stop()
            #expect(observer.events.suffix(2) == [.started, .stopped])
        }
        #expect(observer.events.count == 4)
        #expect(sink.frames.flatMap(\.samples) == samples + samples)
        let first = sink.frames.prefix(sink.frames.count / 2)
        var position = 0
        for frame in first {
            #expect(frame.sampleRate == rate && frame.channels == channels && frame.sampleCount <= rate / 50)
            let exact = Double(position) / Double(rate)
            let found = (frame.timestamp - (first.first?.timestamp ?? .zero)) / .seconds(1)
            #expect(abs(found - exact) < 2e-9)
            position += frame.sampleCount
        }
        #expect(sink.ends.count == 2 && sink.ends.allSatisfy { $0 == nil })
    }

    @Test("A file begins with the first sink, and rests without one")
    func resting() throws {
        let (path, samples) = try file(sampleRate: 48000, channels: 1, frames: 9600)
        defer { unlink(path) }
        let source = try WAVSource(path: path)
        let observer = CaptureObserver()
        source.add(observer: observer)
        try source.start()
        #expect(observer.wait(for: 1))
        // The whole file would be over by now.
        usleep(300_000)
        #expect(observer.events == [.started])
        let sink = SoundCollector()
        source.add(sink)
        #expect(observer.wait(for: 2))
        #expect(sink.frames.flatMap(\.samples) == samples)
    }

    @Test("A looped file continues without a gap until it is stopped")
    func looped() throws {
        let (path, samples) = try file(sampleRate: 48000, channels: 1, frames: 1500)
        defer { unlink(path) }
        let source = try WAVSource(path: path, loop: true)
        let (sink, observer) = (SoundCollector(), CaptureObserver())
        source.add(sink)
        source.add(observer: observer)
        try source.start()
        #expect(sink.wait { $0.sampleCount >= 3500 })
        source.stop()
        let given = sink.frames.flatMap(\.samples)
        #expect(given.enumerated().allSatisfy { $0.element == samples[$0.offset % 1500] })
        for (frame, next) in zip(sink.frames, sink.frames.dropFirst()) {
            #expect(abs((next.timestamp - frame.timestamp - frame.duration) / .nanoseconds(1)) <= 1)
        }
        #expect(observer.events == [.started, .stopped])
    }

    @Test("A looped file without a sample ends", .timeLimit(.minutes(1)))
    func emptyLoop() throws {
        let (path, _) = try file(sampleRate: 48000, channels: 1, frames: 0)
        defer { unlink(path) }
        let source = try WAVSource(path: path, loop: true)
        let sink = SoundCollector()
        source.add(sink)
        try source.start()
        #expect(sink.wait { $0.ends.count == 1 })
        #expect(sink.frames.isEmpty)
    }

    @Test("A file that is missing or no WAVE file is an error that names it")
    func faults() throws {
        let text = NSTemporaryDirectory() + "text-\(UUID().uuidString).wav"
        try "This is no sound.".write(toFile: text, atomically: true, encoding: .utf8)
        defer { unlink(text) }
        for (path, kind) in [("/nowhere/x.wav", CaptureSourceError.Kind.systemFailure), (text, .configurationFailure)] {
            do throws(CaptureError) {
                _ = try WAVSource(path: path)
                Issue.record("\(path) was opened")
            } catch {
                #expect(error.kind == kind)
                #expect(error.description.contains(path))
            }
        }
    }

    @Test("A file that is removed before the start is reported as a failure")
    func removed() throws {
        let (path, _) = try file(sampleRate: 48000, channels: 1, frames: 100)
        let source = try WAVSource(path: path)
        unlink(path)
        let (sink, observer) = (SoundCollector(), CaptureObserver())
        source.add(sink)
        source.add(observer: observer)
        try source.start()
        #expect(observer.wait(for: 2))
        #expect(observer.events == [.started, .failed(.systemFailure)])
        #expect(sink.ends.first.flatMap { $0 } is CaptureError)
    }
}
