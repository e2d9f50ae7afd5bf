internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A share with the session of an earlier `offer`, which another process resumes.
struct StoredShare {
    let answerPath: String
    let sessionPath: String?
    let sharing: SharingOptions
    let running: RunningOptions
    let place: ViewerMembershipOptions
    /// Whether the share ends when the session's file is removed.
    var endsWithSession = false

    /// Runs the share from the answer to its end.
    func run() async throws {
        // Standard input is read for the answer only if no video comes from it.
        let typed = sharing.sources.selection
        if answerPath == "-" { try typed.checkStandardInput(answer: answerPath) }
        var taken: SessionFile.Match?
        // All problems of the answer and the sources are found before the session is consumed.
        let answer = try AnswerFile.read(answerPath) { answer, name in
            let found = try SessionFile.take(answeredBy: answer, path: sessionPath)
            try AnswerFile.check(answer, answers: found.offer, name: name)
            taken = found
        }
        guard let taken else { return }
        let (file, stored, offer) = (taken.file, taken.session, taken.offer)
        let selection = typed.merged(over: stored.sources)
        try selection.check(offered: stored.sources)
        try selection.checkStandardInput(answer: answerPath)
        let sources = try sharing.open(selection, audioRemedy: "add AUDIO to rtcshare offer")
        let membership = try place.membership
        let room = try await running.room(of: AttendeeID(stored.session.attendee), joining: place)
        let interruption = Interruption()
        let removals = endsWithSession ? try PrivateFile(path: file.path).removals() : nil
        let (connection, configuration) = try await connection(for: stored, sending: selection.media, in: file)
        let inviting = RunningShare.Inviting(
            media: stored.sources.media.intersection(selection.media), configuration: configuration,
            policy: ICEOptions.Policy(rawValue: stored.transportPolicy))
        let share = Share(
            room: room, sources: sources, options: sharing, running: running, inviting: inviting,
            film: try sharing.openFilm(), interruption: interruption, removals: removals)
        Terminal.shared.say(sources.introduction)
        try await share.run(on: connection, membership: membership) {
            try await connection.accept(answer: answer, to: offer)
        } consume: {
            // Before this, another attempt could need them.
            connection.setKeepsRelays(false)
            try await WorkerThread.run(named: "session file") { () throws(CommandFailure) in try file.consume(offer) }
        }
    }

    /// Opens the sockets at the addresses in the offer, and resumes the relayed addresses.
    private func connection(
        for stored: SharingSession, sending media: Set<SharedMedia>, in file: SessionFile
    ) async throws -> (Connection, forOthers: Connection.Configuration) {
        var configuration = sharing.connectionConfiguration(for: media)
        let relays = try StoredRelays(stored, in: file)
        var others = configuration
        relays.applyAnew(to: &others)
        // Other viewers' connections use only the addresses in the offer.
        others.addresses = Array(Set(stored.session.addresses.map(\.ip)))
        relays.apply(to: &configuration)
        let connection: Connection
        do {
            connection = try await stored.session.openConnection(configuration: configuration)
        } catch let error as ConnectionError {
            throw error
        } catch {
            throw CommandFailure(
                .badInput, "the session \(file.path) is damaged", try: "rtcshare offer > offer.sdp")
        }
        do {
            try await relays.resume(on: connection)
        } catch {
            await connection.close()
            throw error
        }
        return (connection, others)
    }
}
