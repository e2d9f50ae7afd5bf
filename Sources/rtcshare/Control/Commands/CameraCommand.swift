internal import ArgumentParser

struct CameraCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Change or turn off your camera, or switch its light.",
        discussion: """
            The new camera is opened first. If that fails, nothing changes. The share must have been started with --camera.

                rtcshare camera camera:front --light
                rtcshare camera none
            """)

    @Argument(
        help: ArgumentHelp("Your camera: a value of --camera.", valueName: "spec|none"),
        completion: ShellCompletion.source, transform: OptionValue.specification)
    var camera: CameraSpecification?

    @Flag(inversion: .prefixedNo, help: "Switch the camera's light on or off, if it has one.")
    var light: Bool?

    @OptionGroup var share: ControlOptions

    func validate() throws {
        guard camera != nil || light != nil else {
            throw ValidationError("nothing to change: give a SPEC, none, --light or --no-light")
        }
        if light != nil, camera == CameraSpecification.none {
            throw ValidationError("none turns the camera off, so --light and --no-light have no camera to switch")
        }
    }

    func run() async throws {
        if let camera { try await perform(.camera(camera.withAbsolutePath)) }
        if let light { try await perform(.light(isOn: light)) }
    }
}
