import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

/// The rules of libwebrtc's `congestion_window_pushback_controller_unittest`.
@Suite struct CongestionWindowTests {
    /// A window of 50 000 bytes.
    private func window() -> CongestionWindow {
        var window = CongestionWindow()
        window.receive(roundTrip: .milliseconds(850))
        window.update(target: .kilobitsPerSecond(400))
        return window
    }

    @Test("Twice the window in flight reduces the rate repeatedly")
    func overfullWindow() {
        var window = window()
        #expect(window.bytes == 50_000)
        #expect(window.push(.kilobitsPerSecond(80), outstanding: 100_000, isExceeded: true) == .kilobitsPerSecond(72))
        #expect(window.push(.kilobitsPerSecond(80), outstanding: 100_000, isExceeded: true) == .bitsPerSecond(64_800))
    }

    @Test("Less than the window in flight keeps the rate")
    func withinWindow() {
        var window = window()
        #expect(window.push(.kilobitsPerSecond(80), outstanding: 49_999, isExceeded: false) == .kilobitsPerSecond(80))
    }

    @Test("A low rate is not reduced further")
    func aLowRateIsNotPushedFurther() {
        var window = window()
        #expect(window.push(.kilobitsPerSecond(35), outstanding: 100_000, isExceeded: true) == .bitsPerSecond(31_500))
        #expect(window.push(.kilobitsPerSecond(35), outstanding: 100_000, isExceeded: true) == .kilobitsPerSecond(30))
        #expect(window.push(.kilobitsPerSecond(20), outstanding: 100_000, isExceeded: true) == .kilobitsPerSecond(20))
    }

    @Test("An empty path restores the rate")
    func anEmptyPathRestoresTheRate() {
        var window = window()
        _ = window.push(.kilobitsPerSecond(80), outstanding: 100_000, isExceeded: true)
        #expect(window.push(.kilobitsPerSecond(80), outstanding: 1000, isExceeded: false) == .kilobitsPerSecond(80))
    }

    @Test("Without a window the rate is not reduced")
    func withoutAWindowNothingIsPushed() {
        var window = CongestionWindow()
        #expect(window.push(.kilobitsPerSecond(80), outstanding: 100_000, isExceeded: true) == .kilobitsPerSecond(80))
    }
}
