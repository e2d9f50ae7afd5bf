import Foundation
import RTCShare
import RTCSharePlayback

// Lists what can be shared, then shares an X11 display, a camera where there is one, and a window in place of the display.
// Alice sees in a preview what she shares. The argument is the window's title, or a part of it.
do {
    guard let title = CommandLine.arguments.dropFirst().first else {
        FileHandle.standardError.write(Data("usage: ShareScreen TITLE\n".utf8))
        exit(64)
    }
    for output in try DisplaySource.outputs() {
        print("output \(output.name): \(output.productName ?? "unknown monitor"), \(output.area.size)")
    }
    let windows = try WindowSource.windows()
    let thumbnails = try WindowSource.thumbnails(of: windows, fitting: PixelSize(width: 160, height: 120))
    for window in windows {
        let thumbnail = thumbnails[window.id].map { "with a thumbnail of \($0.size)" } ?? "without a thumbnail"
        print("window \(window), \(thumbnail)")
    }
    // Without PipeWire there are no cameras to list.
    let cameras = (try? CameraDevice.all()) ?? []
    for camera in cameras { print("camera \(camera)") }

    let alice = try await AttendeeSession.offering(as: AttendeeID("alice"), media: [.content, .camera])
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let content = VideoStatisticsSink()
    await bob.tiles.bind(content, to: .content)
    try await alice.connect(to: bob)

    let screen = try DisplaySource(area: .screen)
    try await alice.contentShare.start(capturing: screen)
    var camera: CameraSource?
    if let device = cameras.first {
        let face = try CameraSource(device)
        try await alice.startCamera(source: face)
        try face.start()
        camera = face
    }
    try await Task.sleep(for: .seconds(2))
    print("bob saw the display: \(content.statistics.frames) pictures")
    guard content.statistics.size == screen.captureFormat.size else { exit(1) }

    // A preview is one more sink of the source, whether it is shared or not.
    let window = try WindowSource(.title(title))
    let preview = try await VideoWindow(title: "You share", size: window.captureFormat.size)
    window.add(preview.large)
    try await alice.contentShare.start(capturing: window)
    try await Task.sleep(for: .seconds(2))
    print("bob saw the window: \(content.statistics.frames) pictures, now of \(window.captureFormat.size)")
    guard content.statistics.size == window.captureFormat.size, preview.large.frame != nil,
        thumbnails[window.window.id] != nil
    else { exit(1) }

    try await alice.contentShare.stop()
    camera?.stop()
    window.remove(preview.large)
    await preview.close()
    await alice.leave()
    await bob.leave()
} catch {
    FileHandle.standardError.write(Data("ShareScreen: \(error)\n".utf8))
    exit(1)
}
