internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareMedia

/// The screens and windows of a machine. The names of the properties are those in JSON.
struct ScreenListing: Encodable, Sendable {
    struct Display: Encodable, Sendable {
        let spec: String
        /// The value of `DISPLAY`.
        let name: String
        let width: Int
        let height: Int
    }

    struct Output: Encodable, Sendable {
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

    struct Window: Encodable, Sendable {
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

    /// A choice that a Wayland desktop offers to the user.
    struct Portal: Encodable, Sendable {
        let spec: String
        /// The kind: `monitor` or `window`.
        let kind: String
    }

    private(set) var portal: [Portal] = []
    private(set) var displays: [Display] = []
    private(set) var outputs: [Output] = []
    private(set) var windows: [Window] = []
    /// The reasons why parts are empty, by the part's name.
    private(set) var problems: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case portal, displays, outputs, windows, problems
    }

    /// Lists the choices of a Wayland desktop's portal. Other desktops' screens are added by ``show(_:named:on:)``.
    init(desktop: DesktopSession.Kind) {
        guard desktop.isWayland else { return }
        do throws(ScreenCastPortal.Problem) {
            portal = try ScreenCastPortal.find().kinds.map {
                Portal(spec: SourceSpecification.portal($0).description, kind: $0.rawValue)
            }
        } catch {
            explain([.portal], MachineDiagnosis.reason(for: CaptureError.portalUnavailable(error)))
        }
        explain([.displays, .windows], "the desktop shares its screens and windows through its portal")
    }

    /// Lists the windows of a display and, unless it is XWayland's, its screen, or the reason why there are none.
    mutating func show(
        _ found: Result<DisplayContents, CaptureError>, named name: String?, on desktop: DesktopSession.Kind
    ) {
        let contents: DisplayContents
        switch found {
        case .success(let found): contents = found
        case .failure(let error): return explain([.displays, .windows], MachineDiagnosis.reason(for: error))
        }
        if !desktop.isWayland {
            displays = [
                Display(
                    spec: SourceSpecification.display(output: nil).description, name: name ?? "",
                    width: contents.size.width, height: contents.size.height)
            ]
            outputs = contents.outputs.map { output in
                Output(
                    spec: SourceSpecification.display(output: output.name).description, name: output.name,
                    product: output.productName, x: output.area.x, y: output.area.y, width: output.area.size.width,
                    height: output.area.size.height, primary: output.isPrimary)
            }
        }
        windows = contents.windows.map { window in
            Window(
                spec: SourceSpecification.window(window.specification).description, id: window.id,
                title: window.title, application: window.application, pid: window.processID,
                width: window.size.width, height: window.size.height, minimized: window.isMinimized)
        }
        explain([.windows], windows.isEmpty ? "no window is open" : nil)
    }

    private mutating func explain(_ parts: [CodingKeys], _ reason: String?) {
        for part in parts { problems[part.stringValue] = reason }
    }
}
