internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareMedia

/// The cameras of a machine. The names of the properties are those in JSON.
struct CameraListing: Encodable, Sendable {
    /// A camera with its formats.
    struct Camera: Encodable, Sendable {
        struct Format: Encodable, Sendable {
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
        let rows: [String]

        private enum CodingKeys: String, CodingKey {
            case spec, name, description, light, formats
        }
    }

    let cameras: [Camera]
    /// The reason why there is none, by the part's name.
    private(set) var problems: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case cameras, problems
    }

    /// Lists the connected cameras. In a sandbox, whose desktop asks before a program sees any, it is one without a
    /// name.
    init() {
        guard !CameraDevice.requiresPermission else {
            self.init(
                cameras: [
                    Camera(
                        spec: SourceSpecification.camera(name: nil).description, name: "",
                        description: "a camera, if you allow it when the desktop asks", light: false, formats: [],
                        rows: [])
                ])
            return
        }
        self.init(Result(catching: CameraDevice.all))
    }

    /// Lists these cameras, or the reason why there is none.
    init(_ found: Result<[CameraDevice], CaptureError>) {
        switch found {
        case .success(let cameras): self.init(cameras)
        case .failure(let error): self.init(cameras: [], problem: MachineDiagnosis.reason(for: error))
        }
    }

    private init(cameras: [Camera], problem: String? = nil) {
        self.cameras = cameras
        problems[CodingKeys.cameras.stringValue] = problem
    }

    private init(_ found: [CameraDevice]) {
        let cameras = found.map { camera in
            Camera(
                spec: SourceSpecification.camera(name: camera.name).description, name: camera.name,
                description: camera.description, light: camera.hasTorch,
                formats: camera.formats.map { format in
                    Camera.Format(
                        pixels: format.pixels.rawValue, width: format.size.width, height: format.size.height,
                        frameRates: format.frameRates)
                }, rows: camera.formats.map(\.description))
        }
        self.init(cameras: cameras, problem: cameras.isEmpty ? "no camera is connected" : nil)
    }
}
