package import RTCShareWireFormat

import RTCShareMedia

/// The ScreenCast portal of a Wayland desktop (`org.freedesktop.portal.ScreenCast`).
public struct ScreenCastPortal: Sendable, Hashable {
    /// The choices that a user has.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// One of the monitors.
        case monitor
        /// One of the windows.
        case window
        /// Either.
        case any

        /// The portal's bits for the kind.
        fileprivate var bits: UInt32 {
            switch self {
            case .monitor: 1
            case .window: 2
            case .any: 3
            }
        }
    }

    /// The reason why there is no usable portal.
    public enum Problem: Error, Sendable, Hashable {
        /// There is no session bus, on which portals answer.
        case noSessionBus(reason: String)
        /// No portal answers there.
        case noPortal
        /// The portal has no interface for screens: none of its backends supports this desktop.
        case noScreenCast
        /// The desktop offers `offered`, but not this kind.
        case kindNotOffered(Kind, offered: [Kind])
        /// The portal or its backend failed.
        case failed(reason: String)
    }

    /// The version of the portal's interface.
    public let version: Int
    /// The offered kinds: monitors, windows, or both.
    public let kinds: [Kind]
    let pointerModes: UInt32

    static let interface = "org.freedesktop.portal.ScreenCast"

    /// Finds the session's portal and its kinds.
    public static func find() throws(Problem) -> ScreenCastPortal {
        try ScreenCastPortal(on: bus())
    }

    static func bus() throws(Problem) -> SessionBus {
        do throws(SessionBus.Failure) {
            return try SessionBus()
        } catch {
            throw .noSessionBus(reason: error.reason)
        }
    }

    init(on bus: SessionBus) throws(Problem) {
        let answer: BusValue
        do throws(PortalRequests.Refusal) {
            answer = try PortalRequests.properties(of: Self.interface, on: bus)
        } catch {
            throw Problem(error)
        }
        let bits = answer["AvailableSourceTypes"]?.number ?? 0
        guard bits & 3 != 0 else { throw .noScreenCast }
        kinds = [Kind.monitor, .window].filter { bits & Int($0.bits) != 0 }
        version = answer["version"]?.number ?? 1
        pointerModes = UInt32(truncatingIfNeeded: answer["AvailableCursorModes"]?.number ?? 0)
    }

    /// Returns the bits of the requested kind that are offered: the portal rejects others.
    func bits(of kind: Kind) throws(Problem) -> UInt32 {
        let offered = kinds.reduce(0) { $0 | $1.bits }
        guard offered & kind.bits != 0 else { throw .kindNotOffered(kind, offered: kinds) }
        return offered & kind.bits
    }

    /// The pointer separate from the frames, or else within them, or else hidden; nil if the portal has no modes.
    var pointerMode: UInt32? { [4, 2, 1].first { pointerModes & $0 != 0 } }
}

extension ScreenCastPortal.Problem {
    /// Creates the problem for a refusal of the portal. If the user declines, another error is used.
    init(_ refusal: PortalRequests.Refusal) {
        self =
            switch refusal {
            case .noPortal: .noPortal
            case .noInterface: .noScreenCast
            case .failed(let reason): .failed(reason: reason)
            case .declined: .failed(reason: "the answer was no")
            }
    }
}

extension ScreenCastPortal.Problem: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension ScreenCastPortal.Problem: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation {
        switch self {
        case .noSessionBus(let reason):
            Explanation(
                // Without an address, libdbus reports the failure of its own programs.
                "there is no session bus"
                    + (["autolaunch", "dbus-launch"].contains { reason.contains($0) } ? "" : " (\(reason))"),
                remedy: "run it in a desktop session, or set DBUS_SESSION_BUS_ADDRESS")
        case .noPortal:
            Explanation(
                "no portal answers",
                remedy:
                    "install xdg-desktop-portal and its backend for the desktop (\(Self.backends)), and log in again")
        case .noScreenCast:
            Explanation(
                "the portal has no part for screens",
                remedy: "install the desktop's backend (\(Self.backends)), and PipeWire with WirePlumber")
        case .kindNotOffered(let kind, let offered):
            Explanation(
                "the desktop doesn't offer to share a \(kind.rawValue): it offers "
                    + offered.map(\.rawValue).joined(separator: " and "))
        case .failed(let reason): Explanation(reason, remedy: "read the log of xdg-desktop-portal")
        }
    }

    private static let backends =
        "xdg-desktop-portal-gnome for GNOME, -kde for Plasma, -wlr for sway and its like"
}
