internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareMedia

/// The sources of a machine, as `rtcshare sources` prints them. The names of the properties are those in JSON.
struct SourceListing: Encodable {
    struct Display: Encodable {
        let spec: String
        /// The value of `DISPLAY`.
        let name: String
        let width: Int
        let height: Int
    }

    struct Output: Encodable {
        let spec: String
        let name: String
        /// The manufacturer's product name.
        let product: String?
        let x: Int
        let y: Int
        let width: Int
        let height: Int
        let primary: Bool

        /// Encodes all keys of each entry; unknown values are null.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(spec, forKey: .spec)
            try container.encode(name, forKey: .name)
            try container.encode(product, forKey: .product)
            try container.encode(x, forKey: .x)
            try container.encode(y, forKey: .y)
            try container.encode(width, forKey: .width)
            try container.encode(height, forKey: .height)
            try container.encode(primary, forKey: .primary)
        }

        private enum CodingKeys: String, CodingKey {
            case spec, name, product, x, y, width, height, primary
        }
    }

    struct Window: Encodable {
        let spec: String
        let id: UInt32
        let title: String
        let application: String?
        let pid: Int32?
        let width: Int
        let height: Int
        let minimized: Bool

        /// Encodes all keys of each entry; unknown values are null.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(spec, forKey: .spec)
            try container.encode(id, forKey: .id)
            try container.encode(title, forKey: .title)
            try container.encode(application, forKey: .application)
            try container.encode(pid, forKey: .pid)
            try container.encode(width, forKey: .width)
            try container.encode(height, forKey: .height)
            try container.encode(minimized, forKey: .minimized)
        }

        private enum CodingKeys: String, CodingKey {
            case spec, id, title, application, pid, width, height, minimized
        }
    }

    struct Sound: Encodable {
        let spec: String
        let name: String
        let description: String
        /// The kind: `source` for an input, `sink` for an output.
        let kind: String
        let isDefault: Bool

        private enum CodingKeys: String, CodingKey {
            case spec, name, description, kind
            case isDefault = "default"
        }
    }

    /// A choice that a Wayland desktop offers to the user.
    struct Portal: Encodable {
        let spec: String
        /// The kind: `monitor` or `window`.
        let kind: String
    }

    /// A camera with its formats.
    struct Camera: Encodable {
        struct Format: Encodable {
            /// The layout of the pixels, such as `YUY2`.
            let pixels: String
            let width: Int
            let height: Int
            /// The frame rates per second, the highest first; empty if the camera names none.
            let frameRates: [Double]
        }

        let spec: String
        let name: String
        let description: String
        /// Whether it has a light that can be switched.
        let light: Bool
        let formats: [Format]
        /// The formats for people.
        fileprivate let rows: [String]

        private enum CodingKeys: String, CodingKey {
            case spec, name, description, light, formats
        }
    }

    private(set) var portal: [Portal] = []
    private(set) var cameras: [Camera] = []
    private(set) var displays: [Display] = []
    private(set) var outputs: [Output] = []
    private(set) var windows: [Window] = []
    private(set) var sounds: [Sound] = []
    /// The reasons why parts are empty, by the part's name.
    private(set) var problems: [String: String] = [:]

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case portal, displays, outputs, windows, cameras, sounds, problems
    }

    /// Lists the sources of the desktop, the display and the sound server in the environment.
    init(environment: [String: String], includingMinimized: Bool) {
        let server = environment["PULSE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
        let desktop = DesktopSession(environment: environment)
        if desktop.isWayland {
            addPortal()
            explain([.displays, .windows], "the desktop shares its screens and windows through its portal")
        }
        if !desktop.isWayland || desktop.hasDisplay {
            do throws(CaptureError) {
                try addDisplay(
                    environment["DISPLAY"], isWhole: !desktop.isWayland, includingMinimized: includingMinimized)
                explain([.windows], windows.isEmpty ? "no window is open" : nil)
            } catch {
                explain([.displays, .windows], MachineDiagnosis.reason(for: error))
            }
        }
        addCameras()
        do throws(CaptureError) {
            sounds = try PulseSource.devices(server: server).map { device in
                Sound(
                    spec: device.specification.description, name: device.name, description: device.description,
                    kind: device.kind == .source ? "source" : "sink", isDefault: device.isDefault)
            }
            if sounds.isEmpty { explain([.sounds], "the audio server has no device") }
        } catch {
            explain([.sounds], MachineDiagnosis.reason(for: error))
        }
    }

    private mutating func explain(_ parts: [CodingKeys], _ reason: String?) {
        for part in parts { problems[part.stringValue] = reason }
    }

    private mutating func addCameras() {
        guard !CameraDevice.requiresPermission else {
            cameras = [
                Camera(
                    spec: SourceSpecification.camera(name: nil).description, name: "",
                    description: "a camera, if you allow it when the desktop asks", light: false, formats: [],
                    rows: [])
            ]
            return
        }
        var found: [CameraDevice] = []
        do throws(CaptureError) {
            found = try CameraDevice.all()
            if found.isEmpty { explain([.cameras], "no camera is connected") }
        } catch {
            explain([.cameras], MachineDiagnosis.reason(for: error))
        }
        cameras = found.map { camera in
            Camera(
                spec: SourceSpecification.camera(name: camera.name).description, name: camera.name,
                description: camera.description, light: camera.hasTorch,
                formats: camera.formats.map { format in
                    Camera.Format(
                        pixels: format.pixels.rawValue, width: format.size.width, height: format.size.height,
                        frameRates: format.frameRates)
                }, rows: camera.formats.map(\.description))
        }
    }

    private mutating func addPortal() {
        do throws(ScreenCastPortal.Problem) {
            portal = try ScreenCastPortal.find().kinds.map {
                Portal(spec: SourceSpecification.portal($0).description, kind: $0.rawValue)
            }
        } catch {
            explain([.portal], MachineDiagnosis.reason(for: CaptureError.portalUnavailable(error)))
        }
    }

    /// Adds the windows of a display and, with `isWhole`, its screen, which XWayland does not show.
    private mutating func addDisplay(
        _ name: String?, isWhole: Bool, includingMinimized: Bool
    ) throws(CaptureError) {
        let size = try DisplaySource.screenSize(display: name)
        if isWhole {
            displays = [
                Display(
                    spec: SourceSpecification.display(output: nil).description, name: name ?? "", width: size.width,
                    height: size.height)
            ]
            outputs = try DisplaySource.outputs(display: name).map { output in
                Output(
                    spec: SourceSpecification.display(output: output.name).description, name: output.name,
                    product: output.productName, x: output.area.x, y: output.area.y, width: output.area.size.width,
                    height: output.area.size.height, primary: output.isPrimary)
            }
        }
        windows = try WindowSource.windows(display: name, includingMinimized: includingMinimized).map { window in
            Window(
                spec: SourceSpecification.window(window.specification).description, id: window.id,
                title: window.title, application: window.application, pid: window.processID,
                width: window.size.width, height: window.size.height, minimized: window.isMinimized)
        }
    }

    /// Returns a table for people: a heading for each kind, with columns below.
    func table() -> [String] {
        var parts: [(name: String, key: CodingKeys, rows: [[String]])] = [
            (
                "Displays", .displays,
                displays.map { [$0.spec, "\($0.width)x\($0.height)", "the whole screen of \($0.name)"] }
                    + outputs.map {
                        [
                            $0.spec, "\($0.width)x\($0.height)",
                            "at \($0.x),\($0.y)" + ($0.primary ? ", primary" : "")
                                + ($0.product.map { ", \($0)" } ?? ""),
                        ]
                    }
            ),
            (
                "Windows", .windows,
                windows.map { window in
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
                cameras.flatMap { camera in
                    [[camera.spec, camera.description + (camera.light ? ", with a light" : "")]]
                        + camera.rows.map { ["", $0] }
                }
            ),
            (
                "Audio", .sounds,
                sounds.map { [$0.spec, $0.description + ($0.isDefault ? ", default" : "")] }
            ),
        ]
        if !portal.isEmpty || problems[CodingKeys.portal.stringValue] != nil {
            let rows = portal.map { [$0.spec, "a \($0.kind) that you choose in the desktop's dialog"] }
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
