internal import RTCShareCapture

/// The sources of a machine, as `rtcshare sources` prints them.
struct SourceListing: Encodable, Sendable {
    let screens: ScreenListing
    let cameras: CameraListing
    let sounds: SoundListing

    private enum CodingKeys: String, CodingKey {
        case portal, displays, outputs, windows, cameras, sounds, problems
    }

    /// Lists the sources of the desktop, the display and the sound server in the environment.
    init(environment: [String: String], includingMinimized: Bool) {
        let desktop = DesktopSession(environment: environment).kind
        var screens = ScreenListing(desktop: desktop)
        if desktop.hasX {
            let name = environment["DISPLAY"]
            let contents = Result { () throws(CaptureError) in
                try DisplayContents(display: name, includingMinimized: includingMinimized)
            }
            screens.show(contents, named: name, on: desktop)
        }
        self.screens = screens
        cameras = CameraListing()
        sounds = SoundListing(server: SoundListing.server(environment))
    }

    /// The reasons why parts are empty, by the part's name.
    private var problems: [String: String] {
        screens.problems.merging(cameras.problems) { $1 }.merging(sounds.problems) { $1 }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(screens.portal, forKey: .portal)
        try container.encode(screens.displays, forKey: .displays)
        try container.encode(screens.outputs, forKey: .outputs)
        try container.encode(screens.windows, forKey: .windows)
        try container.encode(cameras.cameras, forKey: .cameras)
        try container.encode(sounds.sounds, forKey: .sounds)
        try container.encode(problems, forKey: .problems)
    }

    /// Returns a table for people: a heading for each kind, with columns below.
    func table() -> [String] {
        var parts: [(name: String, key: CodingKeys, rows: [[String]])] = [
            (
                "Displays", .displays,
                screens.displays.map { [$0.spec, "\($0.width)x\($0.height)", "the whole screen of \($0.name)"] }
                    + screens.outputs.map {
                        [
                            $0.spec, "\($0.width)x\($0.height)",
                            "at \($0.x),\($0.y)" + ($0.primary ? ", primary" : "")
                                + ($0.product.map { ", \($0)" } ?? ""),
                        ]
                    }
            ),
            (
                "Windows", .windows,
                screens.windows.map { window in
                    let process = window.pid.map { " (pid \($0))" } ?? ""
                    let owner = (window.application ?? "") + process
                    let title = window.title.isEmpty ? "(no title)" : window.title
                    return [
                        window.spec, "\(window.width)x\(window.height)", owner.trimmed,
                        title + (window.minimized ? ", minimized" : ""),
                    ]
                }
            ),
            (
                "Cameras", .cameras,
                cameras.cameras.flatMap { camera in
                    [[camera.spec, camera.description + (camera.light ? ", with a light" : "")]]
                        + camera.rows.map { ["", $0] }
                }
            ),
            (
                "Audio", .sounds,
                sounds.sounds.map { [$0.spec, $0.description + ($0.isDefault ? ", default" : "")] }
            ),
        ]
        if !screens.portal.isEmpty || problems[CodingKeys.portal.stringValue] != nil {
            let rows = screens.portal.map { [$0.spec, "a \($0.kind) that you choose in the desktop's dialog"] }
            parts.insert(("Desktop", .portal, rows), at: 0)
        }
        let lines = parts.flatMap { name, key, rows in
            let reason = problems[key.stringValue].map { ": \($0)" } ?? ""
            return [name] + (rows.isEmpty ? ["  none\(reason)"] : Self.aligned(rows))
        }
        return lines + ["Always available"] + Self.aligned(Self.alwaysAvailable)
    }

    private static let alwaysAvailable = [
        ["test", "a test pattern"], ["file:PATH.y4m", "a video file"], ["tone", "for --audio: a tone"],
        ["file:PATH.wav", "for --audio: an audio file"],
    ]

    /// Returns lines with aligned columns; the last column has no padding.
    private static func aligned(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, text in
                column == row.count - 1 ? text : text + String(repeating: " ", count: widths[column] - text.count)
            }
            return "  " + cells.joined(separator: "  ")
        }
    }
}
