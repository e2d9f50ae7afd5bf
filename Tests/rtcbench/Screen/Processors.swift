internal import Foundation

/// The processors on which programs may run, by util-linux's `taskset`.
enum Processors {
    /// The numbers of this process's processors.
    static var ofThisProcess: [Int] {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed_list:") }),
            let list = line.split(separator: ":").last
        else { return [] }
        // Ranges and single numbers: 0-3,6.
        return list.split(separator: ",").flatMap { part -> [Int] in
            let ends = part.split(separator: "-").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
            guard let first = ends.first, let last = ends.last, first <= last else { return [] }
            return Array(first...last)
        }
    }

    /// Returns the prefix for a command.
    static func command(keepingTo processors: [Int]) -> [String] { ["taskset", "-c", list(processors)] }

    /// Restricts every thread of this process to these, and everything that they start later. Returns false if that is
    /// not possible.
    static func keepThisProcess(to processors: [Int]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["taskset", "-a", "-p", "-c", list(processors), "\(getpid())"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private static func list(_ processors: [Int]) -> String { processors.map(String.init).joined(separator: ",") }
}

/// The processor time and the memory of a program, with all its threads and children.
enum ProgramTime {
    /// Returns the time in seconds, from the kernel's own count, to the nanosecond.
    static func seconds(of pid: pid_t) -> Double {
        children(of: pid).reduce(own(pid) + ofReaped(pid)) { $0 + seconds(of: $1) }
    }

    private static func own(_ pid: pid_t) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the time of children that have ended.
    private static func ofReaped(_ pid: pid_t) -> Double {
        let fields = statistics(of: pid)
        guard fields.count > 14, let user = Double(fields[13]), let system = Double(fields[14]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Returns the numbers of a program's child processes.
    static func children(of pid: pid_t) -> [pid_t] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.flatMap { thread in
            let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// Returns the memory of a program with all its children in bytes, as far as it is resident: a page that several
    /// processes have counts in parts (PSS).
    static func memory(of pid: pid_t) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
        return children(of: pid).reduce((kibibytes ?? 0) * 1024) { $0 + memory(of: $1) }
    }

    /// Returns the fields of `/proc/PID/stat` from the third on: the second, the name, may contain anything (proc(5)).
    private static func statistics(of pid: pid_t) -> [Substring] {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return [] }
        return text[text.index(after: end)...].split(separator: " ")
    }
}
