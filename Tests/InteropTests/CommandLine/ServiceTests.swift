import Foundation
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// The command as a service: the unit that it prints for systemd, and what it tells a service manager.
    @Suite(.serialized)
    struct ServiceTests {
        @Test(
            "An argument of a unit means itself to systemd",
            arguments: [
                ("plain", "plain"),
                ("test:640x480@30", "test:640x480@30"),
                ("", "\"\""),
                ("two words", "\"two words\""),
                ("50%", "50%%"),
                ("$HOME", "$$HOME"),
                (#"say "it""#, #""say \"it\"""#),
                (#"back\slash"#, #""back\\slash""#),
                ("it's", "\"it's\""),
                (";", "\";\""),
                ("a\tb\nc", #""a\x09b\x0ac""#),
                ("für", "für"),
            ])
        func quoting(argument: String, quoted: String) {
            #expect(SystemdUnit.quoted(argument) == quoted)
        }

        private func unit(_ arguments: [String], folder: String = "/home/alice") throws -> SystemdUnit {
            try UnitCommand.unit(of: arguments, executable: "/opt/rtc share/rtcshare", folder: folder)
        }

        @Test("A unit has the command as it was given, its folder, and when it is started again")
        func unitContents() throws {
            let text = try unit(
                ["--restart", "always", "--environment-file", "tokens.env", "capture", "--port", "5000"],
                folder: "/home/alice/50%"
            ).text
            let lines = text.split(separator: "\n").map(String.init)
            #expect(lines.contains(#"ExecStart="/opt/rtc share/rtcshare" capture --port 5000"#))
            #expect(lines.contains("WorkingDirectory=/home/alice/50%%"))
            #expect(lines.contains("EnvironmentFile=/home/alice/50%%/tokens.env"))
            #expect(lines.contains("Restart=always"))
            #expect(lines.contains("RestartPreventExitStatus=64 65 66 73 77"))
            #expect(lines.contains("PartOf=graphical-session.target"))
            #expect(lines.contains("TimeoutStartSec=infinity"))
            #expect(lines.contains("LimitCORE=0"))
        }

        @Test("A share that is published at a server is a service, with the token in a file")
        func unitOfAPublication() throws {
            let command = ["send", "--whip", "https://server.example/whip", "--source", "test"]
            #expect(
                try unit(command).text.contains(
                    "ExecStart=\"/opt/rtc share/rtcshare\" \(command.joined(separator: " "))"))
        }

        @Test("A unit that shares no screen does not wait for a desktop")
        func unitWithoutScreen() throws {
            let text = try unit(["send", "--answer", "answer.sdp", "--source", "test"]).text
            #expect(text.contains("WantedBy=default.target"))
            #expect(!text.contains("graphical-session"))
        }

        @Test(
            "A share behind a link is a service, of the screen where it shares one",
            arguments: [([], true), (["--source", "display"], true), (["--source", "test"], false)])
        func unitOfALink(source: [String], needsScreen: Bool) throws {
            let unit = try unit(["serve", "--link-token-file", "link.token"] + source)
            #expect(unit.name == "rtcshare-serve" && unit.needsScreen == needsScreen)
            #expect(unit.text.contains("/rtcshare\" serve --link-token-file link.token"))
        }

        @Test(
            "What can't be a service is refused before there is a unit",
            arguments: [
                (["capture", "--port", "5000"], "--environment-file"),
                (["capture", "--port", "0"], "--port"),
                (["--environment-file", "e", "capture"], "--port and --socket"),
                (["send"], "standard input"),
                (["send", "--answer", "-"], "standard input"),
                (["send", "--answer", "a", "--source", "file:-"], "standard input"),
                (["send", "--answer", "a", "--source", "nothing"], "nothing"),
                (["send", "--answer", "a", "--source", "process:5000"], "--environment-file"),
                (["serve", "--source", "file:-"], "standard input"),
                (["serve", "--source", "process:5000"], "--environment-file"),
                (["serve", "--max-viewers", "0"], "--max-viewers"),
                (["demo"], "demo does not run as a service"),
                // Its own faults are of no use to somebody who wants a service.
                (["view"], "view does not run as a service"),
                (["sned"], "unknown command 'sned'"),
            ])
        func impossibleServices(arguments: [String], named: String) throws {
            do {
                _ = try unit(arguments)
                Issue.record("there is a unit")
            } catch {
                let failure = CommandFailure(explaining: error)
                let lines = failure.lines(after: "").joined(separator: "\n")
                #expect(failure.status == .usage && lines.contains(named), "\(lines)")
            }
        }

        @Test(
            "systemd takes the units that the command prints",
            .enabled(
                if: Peers.mustRun || RunningProgram.find("systemd-analyze") != nil, "systemd-analyze is not installed"))
        func systemdTakesUnits() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(in: folder)
            let commands = [
                ["--environment-file", "tokens", "capture", "--socket", #"a "b" $HOME %n \x"#],
                ["send", "--answer", "my answer.sdp", "--source", "test"],
                ["serve", "--link-token-file", "my token"],
            ]
            let missing = try await share.run(["unit"] + commands[2])
            #expect(missing.status == 66 && missing.standardError.contains("my token: there is no such file"))
            for name in ["tokens", "my token"] {
                let file = try folder.write("A=b\n", to: name).path
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
                let open = try await share.run(["unit"] + commands[name == "tokens" ? 0 : 2])
                #expect(open.status == 77 && open.standardError.contains("Try: chmod 600"), "\(open.standardError)")
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            }
            for command in commands {
                let printed = try await share.run(["unit"] + command)
                #expect(printed.status == 0, "\(printed.standardError)")
                let unit = try folder.write(printed.standardOutput, to: "rtcshare-\(command.count).service")
                let verified = try await RunningProgram.run(
                    try #require(RunningProgram.find("systemd-analyze")), ["--user", "verify", unit.path],
                    environment: ["XDG_RUNTIME_DIR": folder.url.path], in: folder, timeout: .seconds(60))
                #expect(verified.status == 0, "\(verified.standardError)")
                #expect(!verified.standardError.contains(unit.lastPathComponent), "\(verified.standardError)")
            }
        }

        @Test(
            "The unit shares the screen of a Wayland session, is there again after a crash, and ends with the session",
            .timeLimit(.minutes(3)),
            .enabled(if: UserManager.missing == nil, "needs \(UserManager.missing ?? "nothing")"))
        func waylandSession() async throws {
            let folder = try TemporaryFolder()
            let manager = try await UserManager(in: folder)
            let share = try Share(environment: manager.environment, in: folder)
            let token = String(repeating: "a1", count: 16)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: try folder.write(token + "\n", to: "link.token").path)
            let unit = try await share.run([
                "unit", "serve", "--source", "display", "--listen", "127.0.0.1:0", "--link-token-file", "link.token",
                "--record", "film.webm",
            ])
            try #require(unit.status == 0, "\(unit.standardError)")
            let log = folder.file("service.log").path
            try manager.install(
                unit.standardOutput, name: "rtcshare-serve",
                changes: "[Service]\nRestartSec=100ms\nStandardOutput=append:\(log)\nStandardError=append:\(log)\n")
            try await manager.control("daemon-reload")
            try await manager.control("enable", "rtcshare-serve")
            #expect(try await manager.control("is-active", "rtcshare-serve") == "inactive")

            // Nobody starts the unit but the session.
            try await manager.control("start", "sway")
            let says = { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
            do {
                try await manager.wait(for: "active", from: "is-active", "rtcshare-serve")
            } catch {
                Issue.record("\(error): \(says())")
                return
            }
            try await Self.expectScreen("first", of: manager, share, token: token)

            try await manager.control("kill", "--signal", "KILL", "rtcshare-serve")
            try await manager.wait(for: "1", from: "show", "--property", "NRestarts", "--value", "rtcshare-serve")
            try await manager.wait(for: "active", from: "is-active", "rtcshare-serve")
            try await Self.expectScreen("second", of: manager, share, token: token)
            #expect(says().contains("film.webm exists already, so this recording is film-2.webm"), "\(says())")

            try await manager.control("stop", "sway-session.target")
            try await manager.wait(for: "inactive", from: "is-active", "rtcshare-serve")
            #expect(says().contains("Recorded"), "\(says())")
            for film in ["film.webm", "film-2.webm"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(film).path)
                #expect((attributes[.size] as? Int ?? 0) > 10_000, "\(film)")
            }
        }

        /// Expects that who has the link of the service sees what is on the screen.
        private static func expectScreen(
            _ name: String, of manager: UserManager, _ share: Share, token: String
        ) async throws {
            let links = try await manager.run(share.rtcshare, ["link"])
            try #require(links.status == 0, "\(links.standardError)")
            let link = String(try #require(links.standardOutput.split(separator: "\n").first))
            #expect(link.hasSuffix("#\(token)"))
            let viewed = try await share.run(["view", link, "--snapshot", "\(name).png", "--duration", "3"])
            try #require(viewed.status == 0, "\(viewed.standardError)")
            let shown = try await manager.run(
                try #require(RunningProgram.find("grim")), ["\(name)-screen.png"],
                more: ["WAYLAND_DISPLAY": "wayland-1"])
            try #require(shown.status == 0, "\(shown.standardError)")
            let similarity = try await Peers.similarity(
                share.folder.file("\(name)-screen.png"), share.folder.file("\(name).png"), in: share.folder)
            #expect(similarity > 0.95)
        }

        @Test(
            "A service that is started again numbers its films, and keeps those of before",
            arguments: [("film.webm", "film-3.webm"), ("my.film.WEBM", "my.film-3.WEBM")])
        func filmsOfAService(name: String, third: String) async throws {
            let folder = try TemporaryFolder()
            let second = third.replacingOccurrences(of: "-3", with: "-2")
            for (text, file) in [("mine", name), ("mine too", second)] { _ = try folder.write(text, to: file) }
            let share = try Share(
                environment: Interop.CommandLineTests.environment(folder).merging([
                    "NOTIFY_SOCKET": folder.file("notify").path
                ]) { $1 }, in: folder)
            let outcome = try await share.run([
                "serve", "--source", "test:320x180@10", "--listen", "127.0.0.1:0", "--no-control", "--duration", "1",
                "--record", name,
            ])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("\(name) exists already, so this recording is \(third)"))
            #expect(try String(contentsOf: folder.file(name), encoding: .utf8) == "mine")
            #expect(try String(contentsOf: folder.file(second), encoding: .utf8) == "mine too")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(third).path)
            #expect((attributes[.size] as? Int ?? 0) > 1000)
        }

        @Test("What goes to the journal is told from what goes elsewhere")
        func journal() throws {
            let folder = try TemporaryFolder()
            let file = try folder.write("", to: "journal")
            let handle = try FileHandle(forWritingTo: file)
            var status = stat()
            try #require(fstat(handle.fileDescriptor, &status) == 0)
            let stream = "\(status.st_dev):\(status.st_ino)"
            #expect(ServiceManager.keeps(handle.fileDescriptor, stream: stream))
            #expect(!ServiceManager.keeps(handle.fileDescriptor, stream: "\(status.st_dev):1"))
            #expect(!ServiceManager.keeps(handle.fileDescriptor, stream: nil))
        }

        @Test("A link that is served as a service is not kept in the journal")
        func linkOfAService() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(
                environment: Interop.CommandLineTests.environment(folder).merging([
                    "XDG_RUNTIME_DIR": folder.file("run").path
                ]) { $1 }, in: folder)
            let journal = folder.file("journal").path
            // The shell knows the file before the program does, as systemd knows its socket.
            let serve = """
                exec >"$1" 2>&1; JOURNAL_STREAM=$(stat -L -c %d:%i "$1") exec "$2" serve --source test --listen 127.0.0.1:0
                """
            let service = try RunningProgram(
                URL(fileURLWithPath: "/bin/sh"), ["-c", serve, "sh", journal, share.rtcshare.path],
                environment: share.environment, in: folder)
            defer { service.stop() }
            let kept = { (try? String(contentsOfFile: journal, encoding: .utf8)) ?? "" }
            try await service.wait(for: "the share", timeout: .seconds(30)) { kept().contains("rtcshare link") }
            let links = try await share.run(["link"])
            #expect(links.status == 0 && links.standardOutput.hasPrefix("http://"), "\(links.standardError)")
            let secret = String(links.standardOutput.split(separator: "\n")[0].drop { $0 != "#" }.dropFirst())
            #expect(secret.count > 16 && !kept().contains(secret), "\(kept())")
            let json = try await share.run(["link", "--json"]).standardOutput
            let printed = try JSONDecoder().decode(ControlLinks.self, from: Data(json.utf8))
            #expect(printed.links == links.standardOutput.split(separator: "\n").map(String.init))
            #expect(printed.places == printed.links.map { ControlLinks.Place(url: $0, reach: .machine) })
        }

        @Test("A service manager gets no link, also if links are printed")
        func linkForServiceManager() async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("notify").path
            let descriptor = try Self.managerSocket(at: path)
            defer { close(descriptor) }
            let share = try Share(
                environment: Interop.CommandLineTests.environment(folder).merging(["NOTIFY_SOCKET": path]) { $1 },
                in: folder)
            let service = try share.start([
                "serve", "--source", "test", "--listen", "127.0.0.1:0", "--no-control",
            ])
            defer { service.stop() }
            var received: [String] = []
            try await service.wait(for: "the start", timeout: .seconds(30)) {
                received += Self.datagrams(at: descriptor)
                return received.contains("READY=1")
            }
            let link = try #require(service.standardOutput.split(separator: "\n").first)
            let secret = String(link.drop { $0 != "#" }.dropFirst())
            #expect(secret.count > 16 && service.standardError.contains(secret), "\(service.standardError)")
            #expect(!received.contains { $0.contains(secret) }, "\(received)")
        }

        @Test("A service manager gets one datagram for each thing it is told", arguments: [false, true])
        func notifications(isAbstract: Bool) throws {
            let folder = try TemporaryFolder()
            let path = isAbstract ? "@rtcshare-\(UUID().uuidString)" : folder.file("notify").path
            let descriptor = try Self.managerSocket(at: path)
            defer { close(descriptor) }
            #expect(ServiceManager.notify("READY=1", at: path))
            #expect(ServiceManager.notify("STATUS=für", at: path))
            #expect(Self.datagrams(at: descriptor) == ["READY=1", "STATUS=für"])
            #expect(!ServiceManager.notify("READY=1", at: "nowhere"))
            #expect(!ServiceManager.notify("READY=1", at: folder.file("nobody").path))
        }

        /// Returns the socket of a service manager, in the abstract namespace if the path begins with `@`.
        private static func managerSocket(at path: String) throws -> Int32 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var bytes = Array(path.utf8)
            if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
            let bound = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            try #require(bound == 0)
            return descriptor
        }

        /// Returns the datagrams that have arrived.
        private static func datagrams(at descriptor: Int32) -> [String] {
            var texts: [String] = []
            while true {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return texts }
                texts.append(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
        }
    }
}
