import Foundation
import Testing
import TestSupport

extension Interop {
    /// The library as another package has it.
    @Suite(.serialized)
    struct OutsidePackageTests {
        @Test(
            "A package with a Media and an SDP of its own shares its own source by importing RTCShare alone",
            .enabled(if: Peers.mustRun, "builds the library anew, for minutes, where RTCSHARE_REQUIRE_PEERS is set"))
        func outsidePackage() async throws {
            let folder = try TemporaryFolder()
            let package = folder.file("outside")
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: Peers.script("outside")), to: package)
            // Kept, as everything that is built is: the next time builds what has changed.
            let scratch = Peers.repository.appendingPathComponent(".build/outside").path
            let swift = try #require(RunningProgram.find("swift"))
            let build = try await RunningProgram(
                swift,
                [
                    "build", "--package-path", package.path, "--scratch-path", scratch, "--disable-index-store",
                    "-debug-info-format", "none",
                ],
                environment: ["RTCSHARE_PACKAGE": Peers.repository.path], in: folder
            ).outcome(timeout: .seconds(1200))
            try #require(build.status == 0, "\(build.standardOutput.suffix(2000))\(build.standardError.suffix(2000))")

            let snapshot = folder.file("seen.png")
            let outcome = try await RunningProgram(
                URL(fileURLWithPath: "\(scratch)/debug/App"), [try #require(Peers.rtcshare).path, snapshot.path],
                in: folder
            ).outcome(timeout: .seconds(120))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(
                outcome.standardOutput == "media offered: 1\nshared\nframes sent: some; the viewer ended with 0\n")
            #expect(FileManager.default.fileExists(atPath: snapshot.path))
        }
    }
}
