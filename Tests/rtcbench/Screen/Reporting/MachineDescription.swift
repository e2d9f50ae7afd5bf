internal import Foundation
internal import RTCShareVideoCoding

/// The machine of the measurements.
struct MachineDescription: Codable, CustomStringConvertible {
    let processor: String
    let cores: Int
    let kernel: String
    let libraries: [String: String]
    /// Whether this program was built with optimization: the results of a debug build are meaningless.
    let isOptimized: Bool

    init() {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") || $0.hasPrefix("CPU part") }
        processor =
            model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
        cores = ProcessInfo.processInfo.processorCount
        var name = utsname()
        uname(&name)
        kernel = withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        libraries = ["libvpx": CodecLibrary.version]
        #if DEBUG
            isOptimized = false
        #else
            isOptimized = true
        #endif
    }

    var description: String {
        "\(processor), \(cores) cores, Linux \(kernel), "
            + libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            + (isOptimized ? "" : "; a debug build, whose figures say nothing: build with -c release")
    }
}
