internal import RTCShareTransport
internal import RTCShareWireFormat

/// The report about a link, as text for people and as JSON for programs.
struct LinkReport: Encodable {
    let diagnosis: LinkDiagnosis

    private enum CodingKeys: String, CodingKey {
        case advice
    }

    func encode(to encoder: any Encoder) throws {
        try diagnosis.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(advice, forKey: .advice)
    }

    private var advice: [String] { diagnosis.advice.map { $0.words(naming: \.words) } }

    /// The report, which fits on a screen.
    var lines: [String] {
        var lines = ["Link: \(diagnosis.link)", "Page: \(page)"]
        if !diagnosis.addresses.isEmpty {
            lines.append("This machine: \(diagnosis.addresses.prefix(4).joined(separator: ", "))")
        }
        if !diagnosis.routes.isEmpty {
            lines += ["Routes of video and audio"] + diagnosis.routes.map { "  \($0.kind.words): \(words($0))" }
        }
        if diagnosis.routes.contains(where: { $0.bitsPerSecond != nil }) {
            let seconds = Int(diagnosis.measuringTime / .seconds(1))
            lines.append(
                "  Each bitrate is the maximum over half a second, in \(seconds) s of the share. The route may carry more."
            )
        } else if diagnosis.works, !diagnosis.needsAdmission {
            lines.append("  The share sent no video, so no bitrate could be measured.")
        }
        if diagnosis.needsAdmission {
            lines.append(
                "Admission: the presenter must admit each viewer. Until then no video is sent, and no bitrate can be "
                    + "measured.")
        }
        if !advice.isEmpty { lines += ["Advice"] + advice.map { "  " + $0 } }
        return lines.map(\.printable)
    }

    private var page: String {
        let page = diagnosis.page
        let answer = page.milliseconds.map { time in
            "answers at \(page.address ?? "?"), TCP port \(page.port), after \(String(printing: "%.0f", time)) ms"
        }
        return [answer, page.error].compactMap { $0 }.joined(separator: ", but ")
    }

    private func words(_ route: LinkDiagnosis.Route) -> String {
        guard route.works else { return route.error.map { "does not work: \($0)" } ?? "not offered by the share" }
        let rate = route.bitsPerSecond.map { bits in
            bits < 1_000_000
                ? String(printing: "at least %.0f kbit/s", Double(bits) / 1000)
                : String(printing: "at least %.1f Mbit/s", Double(bits) / 1_000_000)
        }
        let relay = route.relayTransport.map { "by \(route.relay ?? "a TURN server over \($0.uppercased())")" }
        let parts = [
            "works", route.milliseconds.map { String(printing: "%.0f ms round trip", $0) }, rate,
            route.remote.map { "to \($0)" }, relay,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }
}

extension RouteKind {
    /// The name of a kind of route.
    var words: String {
        switch self {
        case .direct: "UDP, direct"
        case .reflexive: "UDP, through STUN or a forwarded port"
        case .tcp: "TCP"
        case .relay: "TURN server"
        }
    }
}
