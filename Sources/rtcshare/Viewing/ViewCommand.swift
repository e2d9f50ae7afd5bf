internal import ArgumentParser
internal import Foundation
internal import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

struct ViewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "View a share: answer an offer, receive, record.",
        discussion: """
            The answer goes to standard output at once; give it to whoever made the offer. Tiles are reported on standard \
            error as they appear and go. Ctrl-C ends viewing.

            Example: rtcshare view --offer offer.sdp --record share.ivf > answer.sdp
            """)

    @Option(help: ArgumentHelp("The offer; - reads it from standard input.", valueName: "file"), completion: .file())
    var offer: String

    @Option(
        help: ArgumentHelp(
            """
            Record what is received: the content as VP8 in IVF and its sound beside it as WAV; an attendee's own picture and \
            voice go to files with the attendee's id in the name.
            """, valueName: "file.ivf"), completion: .file())
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Keep the content's newest picture in this PNG file; written at the end.", valueName: "file.png"),
        completion: .file())
    var snapshot: String?

    @Option(help: ArgumentHelp("End this many seconds after the first picture.", valueName: "s"))
    var duration: Double?

    @Option(
        help: ArgumentHelp(
            "Write a statistics report a second as JSON Lines; - is standard output, behind the answer.",
            valueName: "file"), completion: .file())
    var stats: String?

    @Option(
        help: ArgumentHelp("The UDP port to listen at, on each address. By default the system picks.", valueName: "n"))
    var port: UInt16 = 0

    @Option(
        help: ArgumentHelp(
            "An address to listen at, again for each. By default those of every interface.", valueName: "addr"))
    var bind: [String] = []

    @Option(
        help: ArgumentHelp(
            "An address under which this machine is known outside, where a router forwards to it port for port.",
            valueName: "addr"))
    var publicIp: [String] = []

    @OptionGroup var ice: ICEOptions

    func validate() throws {
        try ShareDuration.validate(duration)
    }

    func run() async throws {
        try await reportingFailure {
            let offer = try SessionDescription.parse(StandardStreams.readText(offer, what: "offer"))
            var configuration = Connection.Configuration()
            configuration.port = port
            configuration.addresses = try BindAddress.parse(bind)
            configuration.publicAddresses = try PublicAddress.parse(publicIp)
            try ice.apply(to: &configuration)
            // The sender connects when its person has the answer: that can take them a while.
            configuration.connectTimeout = .seconds(24 * 3600)
            let interruption = Interruption()
            let session = try await AttendeeSession.viewing(
                as: AttendeeID("viewer"), configuration: configuration)
            let viewing = try Viewing(
                session: session, record: record, snapshot: snapshot,
                statistics: try stats.map { try StatisticsWriter(path: $0) })
            try await viewing.run(duration: duration, interruption: interruption) {
                try await Gathering.run(
                    on: session.connection, servers: ice.iceServer.count, policy: ice.iceTransportPolicy)
                let answer = try await session.connection.answer(offer: offer)
                try StandardStreams.writeData(answer.description)
                // Whoever reads the answer from a pipe waits for its end, and only then connects.
                if stats != "-" { StandardStreams.closeOutput() }
            }
        }
    }
}
