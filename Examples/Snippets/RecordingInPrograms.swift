import RTCShare

// The code of the article RecordingInPrograms.

func record(_ room: SharingRoom) async throws {
    // snippet:record-room
    let recorder = try WebMRecorder(path: "meeting.webm") { error in print("the recording stopped: \(error)") }
    await room.record(to: recorder)
    // …
    try await recorder.close()
    print("\(recorder.path) is \(recorder.duration) long")
    // end
}
