internal import NIOHTTP1
internal import RTCShareSDP

/// A part of a session description with only ICE information (`application/trickle-ice-sdpfrag`, RFC 8840 §9).
struct TrickleFragment: Hashable, Sendable {
    /// The candidates of one section.
    struct Section: Hashable, Sendable {
        /// The section's `a=mid`; nil for candidates before any section.
        var mid: String?
        /// The values of its `a=candidate` lines, with `candidate:`.
        var candidates: [String] = []
        /// Whether this is the end of candidates.
        var isComplete = false
    }

    /// The credentials to which the candidates belong; nil if the fragment has none.
    var usernameFragment: String?
    var password: String?
    var sections: [Section] = []

    static let mediaType = "application/trickle-ice-sdpfrag"
    /// The maximum number of candidates in one fragment.
    private static let maximumCandidates = 128

    /// Parses a fragment. Ignores lines that belong neither to ICE nor to a section.
    init(parsing text: some StringProtocol) throws(ProblemDetails) {
        var section = Section()
        var count = 0
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("m=") {
                append(section)
                section = Section()
            } else if line.hasPrefix("a=mid:") {
                section.mid = String(line.dropFirst(6))
            } else if line.hasPrefix("a=ice-ufrag:") {
                usernameFragment = usernameFragment ?? String(line.dropFirst(12))
            } else if line.hasPrefix("a=ice-pwd:") {
                password = password ?? String(line.dropFirst(10))
            } else if line.hasPrefix("a=candidate:") {
                count += 1
                guard count <= Self.maximumCandidates else {
                    throw ProblemDetails(.badRequest, "the fragment has more than \(Self.maximumCandidates) candidates")
                }
                section.candidates.append(String(line.dropFirst(2)))
            } else if line.hasPrefix("a=end-of-candidates") {
                section.isComplete = true
            } else if !line.dropFirst().hasPrefix("=") {
                throw ProblemDetails(.badRequest, "the fragment has a line that is none of a session description's")
            }
        }
        append(section)
    }

    private mutating func append(_ section: Section) {
        if !section.candidates.isEmpty || section.isComplete { sections.append(section) }
    }

    /// Returns the ICE information of an answer.
    static func text(of answer: SessionDescription) -> String {
        guard let section = answer.media.first(where: { $0.port != 0 }) else { return "" }
        var lines: [String] = []
        for name in ["ice-ufrag", "ice-pwd"] {
            if let line = section.attribute(name) ?? answer.attribute(name) { lines.append(line.description) }
        }
        lines.append(section.line.description)
        lines += ["mid", "candidate", "end-of-candidates"].flatMap { section.attributes($0) }.map(\.description)
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    /// Returns an offer with this fragment's credentials and candidates instead of its own: the peer's offer for an ICE
    /// restart.
    func replacing(in offer: SessionDescription) -> SessionDescription {
        var offer = offer
        offer.lines.removeAll { $0.isOfICE }
        for index in offer.media.indices {
            offer.media[index].lines.removeAll { $0.isOfICE }
            guard offer.media[index].port != 0 || offer.media[index].has("bundle-only") else { continue }
            if let usernameFragment { offer.media[index].append(attribute: "ice-ufrag", usernameFragment) }
            if let password { offer.media[index].append(attribute: "ice-pwd", password) }
            let mid = offer.media[index].attribute("mid")?.attributeValue.map(String.init)
            for section in sections where section.mid == nil ? index == 0 : section.mid == mid {
                for candidate in section.candidates {
                    offer.media[index].append(attribute: "candidate", String(candidate.dropFirst("candidate:".count)))
                }
                if section.isComplete { offer.media[index].append(attribute: "end-of-candidates") }
            }
        }
        return offer
    }
}

extension SDPLine {
    /// Whether the line is ICE information.
    fileprivate var isOfICE: Bool {
        switch attributeName {
        case "ice-ufrag", "ice-pwd", "candidate", "end-of-candidates": true
        default: false
        }
    }
}
