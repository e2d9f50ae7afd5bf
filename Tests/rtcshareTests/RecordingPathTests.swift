import Foundation
import TestSupport
import Testing

@testable import rtcshare

@Suite("The path of a recording without a name")
struct RecordingPathTests {
    private let folder: TemporaryFolder
    private let home: String

    init() throws {
        folder = try TemporaryFolder()
        home = folder.file("home").path
        for name in ["home/Videos", "home/.config", "elsewhere"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        }
    }

    private func directory(_ variable: String?, list: String? = nil) throws -> String {
        if let list { _ = try folder.write("XDG_VIDEOS_DIR=\"\(list)\"\n", to: "home/.config/user-dirs.dirs") }
        var environment = ["HOME": home]
        environment["XDG_VIDEOS_DIR"] = variable
        let path = RunningShare.usualPath(codec: nil, at: Date(), environment: environment)
        return URL(filePath: path).deletingLastPathComponent().path
    }

    @Test("It is in the directory for videos, if that exists, and else in the home directory")
    func directories() throws {
        let (videos, elsewhere) = (home + "/Videos", folder.file("elsewhere").path)
        #expect(try directory(nil) == home)
        #expect(!RunningShare.usualPath(codec: nil, at: Date(), environment: ["HOME": home + "/"]).contains("//"))
        for missing in [folder.file("missing").path, "elsewhere", ""] {
            #expect(try directory(missing) == home, "\(missing)")
            #expect(try directory(missing, list: "$HOME/Videos") == videos, "\(missing)")
            #expect(try directory(nil, list: missing) == home, "\(missing)")
        }
        #expect(try directory(elsewhere, list: "$HOME/Videos") == elsewhere)
        for list in ["$HOME/Videos/", videos, videos + "/"] { #expect(try directory(nil, list: list) == videos) }
        #expect(try directory(nil, list: "$HOME/") == home)
    }
}
