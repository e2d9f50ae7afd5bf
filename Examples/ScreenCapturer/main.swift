import Foundation
import RTCShare

// A capturer of one's own that is called 30 times a second and shows a running timer, as OpenTok's tutorial has it. A call
// that falls due while the one before still draws is left out.

/// Draws the milliseconds since the start as bars, one for each bit.
struct TimerView {
    private static let size = PixelSize(width: 640, height: 360)
    private let start = ContinuousClock.now

    func render() -> PixelBuffer {
        let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
        let size = Self.size
        return PixelBuffer(size: size, format: .bgra) { planes, strides in
            planes[0].initializeMemory(as: UInt8.self, repeating: 0)
            for bit in 0..<16 where milliseconds >> bit & 1 == 1 {
                let left = (15 - bit) * size.width / 16 * 4
                for row in 0..<size.height {
                    let line = row * strides[0] + left
                    UnsafeMutableRawBufferPointer(rebasing: planes[0][line..<line + size.width / 16 * 4])
                        .initializeMemory(as: UInt8.self, repeating: 255)
                }
            }
        }
    }
}

do {
    let publisher = try await AttendeeSession.offering(as: AttendeeID("publisher"))
    let viewer = try await AttendeeSession.viewing(as: AttendeeID("subscriber"))
    let view = VideoStatisticsSink()
    await viewer.tiles.bind(view, to: .content)
    try await publisher.connect(to: viewer)

    let timer = TimerView()
    let capturer = try PullVideoSource(size: PixelSize(width: 640, height: 360), framesPerSecond: 30) { _ in
        timer.render()
    }
    capturer.contentHint = .text
    try await publisher.contentShare.start(source: capturer)
    try capturer.start()
    try await Task.sleep(for: .seconds(3))
    capturer.stop()
    await publisher.leave()
    await viewer.leave()

    print("the subscriber saw \(view.statistics.frames) pictures of the running timer")
    guard view.statistics.frames > 0 else { exit(1) }
} catch {
    print("ScreenCapturer: \(error)")
    exit(1)
}
