internal import RTCShareSDP

extension Negotiation {
    /// Checks that a later description has every section at its former place: sections are only added at the end (RFC
    /// 3264 §8). A new section can replace a rejected one (RFC 9429 §5.2.2).
    static func checkContinuity(
        of session: SessionDescription, _ side: NegotiationError.Side, with agreed: [NegotiatedSection]
    ) throws(NegotiationError) {
        guard session.media.count >= agreed.count else {
            throw NegotiationError(
                side, session.media.last?.line,
                .sectionsMissing(agreed: agreed.count, described: session.media.count))
        }
        let reader = DescriptionReader(side: side, session: session)
        for (old, media) in zip(agreed, session.media) where old.media != nil {
            guard media.kind == old.kind else {
                throw NegotiationError(side, media.line, .sectionMoved(agreed: old.kind, described: media.kind))
            }
            guard let mid = try reader.mid(media), let known = old.mid, mid != known else { continue }
            throw NegotiationError(
                side, media.attribute("mid"), .sectionMoved(agreed: "mid \(known)", described: "mid \(mid)"))
        }
    }
}
