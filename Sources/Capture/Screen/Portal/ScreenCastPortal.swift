package import RTCShareWireFormat

import RTCShareMedia

/// What a Wayland desktop's ScreenCast portal offers (`org.freedesktop.portal.ScreenCast`).
public struct ScreenCastPortal: Sendable, Hashable {
    /// What a person may choose from.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// One of the monitors.
        case monitor
        /// One of the windows.
        case window
        /// Either.
        case any

        /// As the portal's bits.
        fileprivate var bits: UInt32 {
            switch self {
            case .monitor: 1
            case .window: 2
            case .any: 3
            }
        }
    }

    /// Why there is none, or it doesn't do.
    public enum Problem: Error, Sendable, Hashable {
        /// There is no session bus, where portals answer.
        case noSessionBus(reason: String)
        /// Nobody answers there as a portal.
        case noPortal
        /// The portal has no part for screens: none of its backends knows this desktop's.
        case noScreenCast
        /// The desktop offers `offered`, and not this.
        case kindNotOffered(Kind, offered: [Kind])
        /// The portal or its backend failed.
        case failed(reason: String)
    }

    /// The version of the portal's interface.
    public let version: Int
    /// Monitors, windows, or both.
    public let kinds: [Kind]
    let pointerModes: UInt32

    static let interface = "org.freedesktop.portal.ScreenCast"

    /// Asks the session's portal what it offers.
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

    /// The bits of what is asked for, which are among those that are offered: others are refused.
    func bits(of kind: Kind) throws(Problem) -> UInt32 {
        let offered = kinds.reduce(0) { $0 | $1.bits }
        guard offered & kind.bits != 0 else { throw .kindNotOffered(kind, offered: kinds) }
        return offered & kind.bits
    }

    /// The pointer beside the pictures, or else within them, or else none; nil where the portal knows no modes.
    var pointerMode: UInt32? { [4, 2, 1].first { pointerModes & $0 != 0 } }
}

extension ScreenCastPortal.Problem {
    /// What a part of the portal's refusal means for screens; a person's no has a name of its own elsewhere.
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
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension ScreenCastPortal.Problem: ExplainedError {
    /// What is missing; apart, what to install.
    package var explanation: Explanation {
        switch self {
        case .noSessionBus(let reason):
            Explanation(
                // Without an address, libdbus gives the failure of its own programs as the reason.
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
