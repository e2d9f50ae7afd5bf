import Testing

@testable import RTCShareContentShare
@testable import RTCSharePlayback

@Suite("An audio player")
struct AudioPlayerTests {
    @Test("The video of an attendee follows the other audio stream when one of two ends")
    @SharingActor func secondStream() throws {
        let alice = try AttendeeID("alice")
        let player = AudioPlayer(RemoteAudioController())
        let view = VideoView()
        player.synchronize(view, with: alice)
        let streams = [1, 2].map { RemoteAudio(audioID: $0, attendeeID: alice) }
        for stream in streams { player.play(stream) }
        let newest = view.sound
        #expect(newest != nil)
        player.drop(streams[1])
        let other = view.sound
        #expect(other != nil && other !== newest)
        player.drop(streams[0])
        let none = view.sound
        #expect(none == nil)
    }
}
