internal import RTCShareCSDL

/// SDL 2, found when it is first wanted: what links this module starts without it.
struct SDLLibrary: Sendable {
    // Written before anybody has it, and constant from then on.
    private nonisolated(unsafe) let table: UnsafePointer<sdl_functions>
    private static let found = Result { () throws(VideoWindowError) in try find() }

    /// The library.
    static func load() throws(VideoWindowError) -> SDLLibrary { try found.get() }

    /// Why it can't be had; nil where it can.
    static var missing: VideoWindowError? {
        if case .failure(let error) = found { error } else { nil }
    }

    private static func find() throws(VideoWindowError) -> SDLLibrary {
        var problem: UnsafePointer<CChar>?
        guard let table = sdl_load(&problem) else {
            throw .libraryMissing(reason: problem.map { String(cString: $0) } ?? "it can't be loaded")
        }
        return SDLLibrary(table: table)
    }

    /// Its functions, by their names without `SDL_`.
    var functions: sdl_functions { table.pointee }

    /// As `2.26.5`.
    var version: String {
        var version = SDL_version()
        functions.GetVersion(&version)
        return "\(version.major).\(version.minor).\(version.patch)"
    }

    /// What the function that failed last on this thread says.
    var reason: String { functions.GetError().map { String(cString: $0) } ?? "" }

    /// What `operation` gave, where it gave something.
    func check<Value>(_ operation: String, _ value: Value?) throws(VideoWindowError) -> Value {
        guard let value else { throw .refused(operation: operation, reason: reason) }
        return value
    }

    /// Throws where `code` says that `operation` failed.
    func check(_ operation: String, _ code: Int32) throws(VideoWindowError) {
        guard code >= 0 else { throw .refused(operation: operation, reason: reason) }
    }
}
