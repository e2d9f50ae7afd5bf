internal import RTCShareCSDL

/// SDL 2, loaded when it is first needed: programs that link this module start without it.
struct SDLLibrary: Sendable {
    // Written before it is shared, and constant from then on.
    private nonisolated(unsafe) let table: UnsafePointer<sdl_functions>
    private static let found = Result { () throws(VideoWindowError) in try find() }

    static func load() throws(VideoWindowError) -> SDLLibrary { try found.get() }

    /// The reason why the library is not available; nil if it is.
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

    /// The library's functions, by their names without `SDL_`.
    var functions: sdl_functions { table.pointee }

    /// The version, such as `2.26.5`.
    var version: String {
        var version = SDL_version()
        functions.GetVersion(&version)
        return "\(version.major).\(version.minor).\(version.patch)"
    }

    /// The error message of the last function that failed on this thread.
    var reason: String { functions.GetError().map { String(cString: $0) } ?? "" }

    /// Returns the result of `operation`. Throws if it is nil.
    func check<Value>(_ operation: String, _ value: Value?) throws(VideoWindowError) -> Value {
        guard let value else { throw .refused(operation: operation, reason: reason) }
        return value
    }

    /// Throws if `code` is the failure of `operation`.
    func check(_ operation: String, _ code: Int32) throws(VideoWindowError) {
        guard code >= 0 else { throw .refused(operation: operation, reason: reason) }
    }
}
