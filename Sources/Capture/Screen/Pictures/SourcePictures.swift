package import RTCShareMedia
import Synchronization

/// Lists the screen, outputs and windows of an X display with small images of them, and keeps both current.
///
/// Only events of the server cause work: nothing is read while nothing changes. See ``SourceWatch``.
package final class SourcePictures: Sendable {
    /// A part of the display that has an image.
    package enum Subject: Sendable, Hashable {
        case screen
        case output(String)
        case window(UInt32)
    }

    /// News of the display. The first ones are its contents and an image of each.
    package enum Event: Sendable {
        /// The display has other contents.
        case contents(DisplayContents)
        /// The image of a part is another one.
        case image(Subject, PixelBuffer)
        /// The display can't be read. It is tried again.
        case failure(CaptureError)
    }

    private let display: String?
    private let bound: PixelSize
    private let showsScreen: Bool
    private let thread = CaptureThread()
    private let reads = Counter()

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    /// The delay before a retry after the display has failed.
    private static let retryInterval = Duration.seconds(5)

    /// Prepares to read `display`, the value of `DISPLAY`. Images fit within `bound`. Without `showsScreen` only
    /// windows have images.
    package init(display: String?, fitting bound: PixelSize, showsScreen: Bool) {
        (self.display, self.bound, self.showsScreen) = (display, bound, showsScreen)
    }

    /// The number of times that pixels were read from the server.
    package var readCount: Int { reads.value.load(ordering: .relaxed) }

    /// Starts to call `receive` on a thread of its own.
    package func start(_ receive: @escaping @Sendable (Event) -> Void) throws(CaptureError) {
        let (display, bound, showsScreen) = (display, bound, showsScreen)
        try thread.start { [reads] signal in
            while !signal.isRaised {
                do throws(CaptureError) {
                    let connection = try XConnection(display: display)
                    let watch = try SourceWatch(
                        connection: connection, bound: bound, showsScreen: showsScreen, send: receive,
                        didRead: { reads.value.add(1, ordering: .relaxed) })
                    try watch.run(until: signal)
                } catch {
                    receive(.failure(error))
                    _ = signal.wait(until: monotonicNow() + Self.retryInterval)
                }
            }
        }
    }

    /// Requests the end of the thread, which then frees everything, without waiting for it.
    package func cancel() { thread.cancel() }

    /// Ends the thread, and waits for it.
    package func stop() { thread.stop() }
}
