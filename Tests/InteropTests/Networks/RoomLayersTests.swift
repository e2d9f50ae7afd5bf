import Foundation
import Testing
import TestSupport

extension Interop.NetworkTests {
    /// A simulcast in a room, whose viewers have networks of different rates.
    @Suite(.serialized, .enabled(if: Peers.mustRun || JanusServer.missing == nil, "needs janus"))
    struct RoomLayersTests {
        @Test("A viewer with a slow network gets a lower layer, and the best one when the network is fast again")
        func slowViewer() async throws {
            let folder = try TemporaryFolder()
            let network = try await TestNetwork(viewer: .portRestricted, in: folder)
            let room = try await NetworkRoom(over: network, in: folder)
            // The layers of motion differ in their sizes.
            let sending = try await room.publish([
                "--source", "test:1280x720@30", "--hint", "motion", "--layers", "3", "--max-bitrate", "2500", "--audio",
                "none",
            ])
            let (fast, slow) = (try room.view("fast", on: .server), try room.view("slow", on: .viewer))
            func video(_ name: String) -> (width: Int, frames: Int) {
                let video = StatisticsEntry.newest(in: folder.file("\(name).jsonl")).video
                return (video?.frameWidth ?? 0, video?.framesDecoded ?? 0)
            }
            for (program, name) in [(fast, "fast"), (slow, "slow")] {
                try await program.wait(for: "the best layer", timeout: .seconds(30)) { video(name).width == 1280 }
            }
            // Some 300 kbit/s.
            try await network.run(
                """
                on $viewer_router nft add table ip slow
                on $viewer_router nft add chain ip slow forward '{ type filter hook forward priority filter; }'
                on $viewer_router nft add rule ip slow forward iifname wan limit rate over 40 kbytes/second burst 10 kbytes drop
                """)
            try await slow.wait(for: "the lowest layer", timeout: .seconds(60)) { video("slow").width == 320 }
            // It is watched there, and nobody else is affected.
            let before = (slow: video("slow").frames, fast: video("fast").frames)
            try await slow.wait(for: "its frames", timeout: .seconds(30)) {
                video("slow").frames > before.slow + 20
            }
            try await fast.wait(for: "the others' frames", timeout: .seconds(30)) {
                let video = video("fast")
                return video.width == 1280 && video.frames > before.fast + 20
            }
            try await network.run("on $viewer_router nft delete table ip slow")
            try await slow.wait(for: "the best layer again", timeout: .seconds(90)) { video("slow").width == 1280 }
            try await room.end([slow, fast, sending])
        }
    }
}
