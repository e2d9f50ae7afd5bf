internal import ArgumentParser

@main
struct RTCShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rtcshare",
        abstract: "Share a screen with any WebRTC viewer.",
        discussion: """
            Sharing takes three steps. Make an offer and give it to the viewer, by any means that carries text:

                rtcshare offer --attendee alice > offer.sdp

            The viewer (a browser page, a conference server, rtcshare view) gives back an answer. Then share:

                rtcshare send --answer answer.sdp

            Try it without a viewer, a display or a network: rtcshare demo
            """,
        subcommands: [
            OfferCommand.self, SendCommand.self, ViewCommand.self, DemoCommand.self, InspectCommand.self,
        ])
}
