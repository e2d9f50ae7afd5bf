import RTCSharePeerConnection
import Testing

@testable import rtcshare

/// The state that `rtcshare status` reports of a share.
@Suite struct ControlledShareStateTests {
    private static let (admitted, waiting) = (false, true)

    @Test(
        "A share is waiting only if its link has no viewers except those that wait for admission",
        arguments: [
            ([], .connecting, .waiting),
            ([(.connected, waiting)], .connecting, .waiting),
            ([(.disconnected, waiting)], .connecting, .waiting),
            ([(.connecting, waiting)], .connecting, .connecting),
            ([(.new, admitted)], .connecting, .connecting),
            ([(.connecting, admitted)], .connecting, .connecting),
            ([(.connecting, admitted), (.connected, waiting)], .connecting, .connecting),
            ([(.connected, admitted)], .sharing, .sharing),
            ([(.disconnected, admitted)], .sharing, .sharing),
            ([(.connected, admitted), (.connected, waiting), (.connecting, admitted)], .sharing, .sharing),
        ] as [([(ConnectionState, Bool)], ControlledShare.State, ControlledShare.State)])
    func states(
        viewers: [(ConnectionState, Bool)], state: ControlledShare.State, stateOfLink: ControlledShare.State
    ) {
        let viewers = viewers.enumerated().map { index, viewer in
            ControlledShare.Viewer(id: index + 1, state: viewer.0, isWaiting: viewer.1, groups: [])
        }
        for (hasLink, expected) in [(false, state), (true, stateOfLink)] {
            #expect(
                ControlledShare.State(isPaused: false, isPublished: false, hasLink: hasLink, viewers: viewers)
                    == expected)
            #expect(
                ControlledShare.State(isPaused: false, isPublished: true, hasLink: hasLink, viewers: viewers)
                    == .sharing)
            #expect(
                ControlledShare.State(isPaused: true, isPublished: true, hasLink: hasLink, viewers: viewers) == .paused)
        }
    }
}
