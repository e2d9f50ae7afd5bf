import RTCShareNetworkSimulation
import Testing

@Suite struct LineFitTests {
    private let times = (0..<200).map { Double($0) * 5 }
    /// Viewers that come and go.
    private let viewers = (0..<200).map { Double(3 + ($0 / 7 * 5) % 4) }

    private func noise(_ seed: UInt64, deviation: Double) -> [Double] {
        var random = SeededGenerator(seed: seed)
        return times.map { _ in deviation * random.normal() }
    }

    @Test("The slope of an exact line is found without an error")
    func exactLine() throws {
        let fit = try #require(LineFit(times: times, values: times.map { 7 + 0.25 * $0 }, other: times.map { _ in 1 }))
        #expect(abs(fit.slope - 0.25) < 1e-9)
        #expect(fit.slopeError < 1e-6)
        #expect(abs(fit.value(at: 100) - 32) < 1e-6)
    }

    @Test("A value that depends on the number of viewers is not growth")
    func moreViewers() throws {
        // More viewers in the second half: without them in the fit it would seem to grow.
        let viewers = zip(viewers, times).map { $0 + ($1 > 500 ? 2 : 0) }
        let fit = try #require(LineFit(times: times, values: viewers.map { 20 + 3 * $0 }, other: viewers))
        #expect(abs(fit.slope) < 1e-9)
    }

    @Test("A leak is found in a value that depends on the number of viewers")
    func leak() throws {
        let values = zip(times, viewers).map { 20 + 3 * $1 + 0.01 * $0 }
        let fit = try #require(LineFit(times: times, values: values, other: viewers))
        #expect(abs(fit.slope - 0.01) < 1e-9)
    }

    @Test("The slope of noise is within four of its errors of zero", arguments: 1...40)
    func independentNoise(seed: UInt64) throws {
        let fit = try #require(LineFit(times: times, values: noise(seed, deviation: 3), other: viewers))
        #expect(abs(fit.slope) < 4 * fit.slopeError)
    }

    @Test("The slope of a wandering value is within four of its errors of zero", arguments: 1...40)
    func wanderingValue(
        seed: UInt64
    ) throws {
        // Each value keeps nine tenths of the one before: an error that took them for independent would be too small.
        var value = 0.0
        let values = noise(seed, deviation: 1).map { step in
            value = 0.9 * value + step
            return value
        }
        let fit = try #require(LineFit(times: times, values: values, other: viewers))
        #expect(abs(fit.slope) < 4 * fit.slopeError)
    }

    @Test("The error of a value that wanders is greater than that of one that does not")
    func wanderingError() throws {
        let steps = noise(3, deviation: 1)
        var value = 0.0
        let wandering = steps.map { step in
            value = 0.9 * value + 0.1.squareRoot() * step
            return value
        }
        let one = try #require(LineFit(times: times, values: steps, other: viewers))
        let other = try #require(LineFit(times: times, values: wandering, other: viewers))
        #expect(other.slopeError > 1.5 * one.slopeError)
    }

    @Test("Too few values, or values of one moment, have no fit")
    func tooFewValues() throws {
        #expect(LineFit(times: [], values: [], other: []) == nil)
        #expect(LineFit(times: [1, 2], values: [1], other: [1, 1]) == nil)
        let two = try #require(LineFit(times: [1, 2], values: [1, 2], other: [1, 1]))
        #expect(two.slopeError == .infinity)
        let still = try #require(LineFit(times: [1, 1, 1, 1], values: [1, 2, 3, 4], other: [1, 1, 1, 1]))
        #expect(still.slope == 0)
        #expect(still.slopeError == .infinity)
    }
}
