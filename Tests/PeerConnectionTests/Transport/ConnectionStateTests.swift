import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The states that a peer reports.
@Suite struct ConnectionStateTests {
    enum Course: Sendable {
        case stands, pathReturns, pathEnds, noPath, peerLeaves, peerLeavesAndIsSilent, leaves
    }

    @Test(
        "A peer reports each change of its state once, but not the end that it caused itself",
        arguments: [
            (.stands, [.connecting, .connected], .connected),
            (.pathReturns, [.connecting, .connected, .disconnected, .connected], .connected),
            (.pathEnds, [.connecting, .connected, .disconnected, .failed], .failed),
            (.noPath, [.connecting, .failed], .failed),
            (.peerLeaves, [.connecting, .connected, .closed], .closed),
            (.peerLeavesAndIsSilent, [.connecting, .connected, .closed], .failed),
            (.leaves, [.connecting, .connected], .closed),
        ] as [(Course, [ConnectionState], ConnectionState)])
    func states(course: Course, reported: [ConnectionState], last: ConnectionState) throws {
        let call = try SimulatedCall(conditions: PathTests.clean, seed: 130)
        #expect(call.sender.state == .connecting && call.sender.failure == nil)
        call.isCut = course == .noPath
        call.run(for: .seconds(3))
        switch course {
        case .stands: break
        case .pathReturns:
            call.isCut = true
            call.run(for: .seconds(10), sendsFrames: false)
            call.isCut = false
            call.run(for: .seconds(3))
        case .pathEnds, .noPath:
            call.isCut = true
            call.run(for: .seconds(60), sendsFrames: false)
        case .peerLeaves, .peerLeavesAndIsSilent:
            call.viewer.close(now: call.now)
            call.run(for: .seconds(1), sendsFrames: false)
            if course == .peerLeaves {
                call.sender.close(now: call.now)
            } else {
                call.run(for: .seconds(60), sendsFrames: false)
            }
        case .leaves:
            call.sender.close(now: call.now)
            call.run(for: .seconds(1), sendsFrames: false)
        }
        #expect(call.record.states == reported && call.sender.state == last)
        #expect((call.sender.failure != nil) == (last == .failed))
    }
}
