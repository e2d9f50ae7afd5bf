import Foundation
import Glibc
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import RTCShareSignaling
@testable import rtcshare

extension Interop {
    /// The server of the presenter's page, and everyone who must not use it.
    @Suite(
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"),
        .enabled(if: Peers.mustRun || RunningProgram.find("curl") != nil, "curl is not installed"))
    struct PresenterSecurityTests {
        private static let isRoot = geteuid() == 0

        /// A share with its presenter's page.
        private struct Console {
            let folder: TemporaryFolder
            let share: ServedShare
            let link: String

            init(
                _ options: [String] = [], environment: [String: String] = [:], largestFile: Int? = nil
            ) async throws {
                folder = try TemporaryFolder()
                share = try await ServedShare(
                    options, environment: environment, largestFile: largestFile, in: folder)
                link = try await share.ask("present").trimmingCharacters(in: .whitespacesAndNewlines)
            }

            var address: String { String(link.prefix { $0 != "#" }.dropLast()) }
            var port: Int { URL(string: address)?.port ?? 0 }
            var secret: String { String(link.drop { $0 != "#" }.dropFirst()) }

            /// What a page of this server sends with a change.
            var headers: [String] {
                [
                    "Authorization: Bearer \(secret)", "Origin: \(address)", "Sec-Fetch-Site: same-origin",
                    "Content-Type: application/json",
                ]
            }

            /// Runs curl, as another user if one is given, and returns its status with the HTTP status that it got.
            func curl(_ arguments: [String], user: Int? = nil) async throws -> (exit: Int32?, status: Int, text: String)
            {
                let curl = try #require(RunningProgram.find("curl")).path
                let command = user.map { ["setpriv", "--reuid", "\($0)", "--regid", "\($0)", "--clear-groups"] } ?? []
                let outcome = try await RunningProgram.run(
                    URL(fileURLWithPath: "/usr/bin/env"),
                    command + [curl, "--silent", "--max-time", "10", "--write-out", "\n%{http_code}"] + arguments,
                    in: folder, timeout: .seconds(30))
                let lines = outcome.standardOutput.split(separator: "\n", omittingEmptySubsequences: false)
                return (
                    outcome.status, lines.last.flatMap { Int($0) } ?? 0, lines.dropLast().joined(separator: "\n")
                )
            }

            func curl(_ path: String, _ more: [String] = [], user: Int? = nil) async throws -> (
                exit: Int32?, status: Int, text: String
            ) {
                try await curl(headers.flatMap { ["--header", $0] } + more + [address + path], user: user)
            }
        }

        @Test("The page and the interface work with the secret, and say what is missing without it")
        func ownUser() async throws {
            let console = try await Console()
            defer { console.share.stop() }
            #expect(console.link.hasPrefix("http://127.0.0.1:") && console.secret.count > 16, "\(console.link)")
            let page = try await console.curl(["--include", console.address + "/"])
            #expect(
                page.status == 200 && page.text.contains("default-src 'none'") && page.text.contains("<!doctype html>"))
            for header in ["X-Frame-Options: DENY", "nosniff", "no-referrer", "no-store", "frame-ancestors 'none'"] {
                #expect(page.text.contains(header), "\(header)")
            }
            #expect(!page.text.contains("Access-Control"))
            #expect(try await console.curl("/v1/share").text.contains(#""attendee":"alice""#))
            let refused = try await console.curl([console.address + "/v1/share"])
            #expect(refused.status == 401 && refused.text.contains("the secret of this page is missing"))
            let paused = try await console.curl("/v1/share", ["--request", "PATCH", "--data", #"{"isPaused":true}"#])
            #expect(paused.status == 200)
            #expect(try await console.share.status().state == .paused)
            #expect(try await console.curl("/v1/links/qr").status == 404)
            #expect(try await console.curl("/v1/page", ["--request", "POST"]).text.contains(console.link))
        }

        @Test(
            "Another user gets nothing, not even with the secret, and not even after it has closed its connection",
            .enabled(if: isRoot, "only root can become another user"))
        func otherUser() async throws {
            let console = try await Console()
            defer { console.share.stop() }
            for path in ["/", "/icon.svg", "/v1/share", "/v1/openapi.json"] {
                let answer = try await console.curl(path, user: 65_534)
                // The connection is closed or reset, and there is no response.
                #expect(
                    [52, 56].contains(answer.exit) && answer.status == 0 && answer.text.isEmpty, "\(path) \(answer)")
                #expect(try await console.curl(path).status == 200)
            }
            let body = #"{"isPaused":true}"#
            let request =
                (["PATCH /v1/share HTTP/1.1", "Host: 127.0.0.1:\(console.port)", "Content-Length: \(body.utf8.count)"]
                + console.headers + ["", body]).joined(separator: "\r\n")
            let program = """
                import socket, sys
                for end in [None, socket.SHUT_WR, "close"] * 30:
                    client = socket.create_connection(("127.0.0.1", \(console.port)))
                    try:
                        client.sendall(sys.argv[1].encode())
                        if end == "close": client.close(); continue
                        if end is not None: client.shutdown(end)
                        assert not client.recv(100)
                    except OSError: pass
                """
            let outcome = try await RunningProgram.run(
                URL(fileURLWithPath: "/usr/bin/env"),
                [
                    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c",
                    program,
                    request,
                ],
                in: console.folder, timeout: .seconds(60))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(try await console.share.status().state == .waiting)
        }

        @Test(
            "The page answers while another user opens hundreds of connections",
            .enabled(if: isRoot, "only root can become another user"))
        func crowd() async throws {
            let console = try await Console()
            defer { console.share.stop() }
            let program = """
                import socket, sys
                clients = []
                for count in range(900):
                    clients.append(socket.create_connection(("127.0.0.1", \(console.port))))
                    if count == 500: print("many", flush=True)
                sys.stdin.read()
                """
            let crowd = try RunningProgram(
                URL(fileURLWithPath: "/usr/bin/env"),
                [
                    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c",
                    program,
                ], in: console.folder)
            defer { crowd.stop() }
            try await crowd.wait(for: "connections", timeout: .seconds(20)) { crowd.standardOutput.contains("many") }
            for _ in 1...20 { #expect(try await console.curl("/v1/share", ["--max-time", "2"]).status == 200) }
        }

        @Test("A user without a number in its namespace gets no page", .enabled(if: isRoot, "needs a user namespace"))
        func namespace() async throws {
            let folder = try TemporaryFolder()
            let environment = Interop.CommandLineTests.environment(folder).merging([
                "XDG_RUNTIME_DIR": folder.file("run").path
            ]) { $1 }
            try FileManager.default.createDirectory(
                at: folder.file("run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
            let rtcshare = try #require(Peers.rtcshare).path
            let outcome = try await RunningProgram.run(
                URL(fileURLWithPath: "/usr/bin/env"), ["unshare", "--user", rtcshare, "present"],
                environment: environment, in: folder, timeout: .seconds(20))
            #expect(outcome.status == 69 && outcome.standardOutput.isEmpty, "\(outcome)")
            #expect(
                outcome.standardError.contains(
                    "can't tell your programs from those of other users: this user namespace has no number for your user"
                ),
                "\(outcome)")
        }

        @Test("Other machines and other network namespaces do not reach the page")
        func otherAddresses() async throws {
            let console = try await Console(["--address", "127.0.0.1"])
            defer { console.share.stop() }
            for host in ["127.0.0.2", "[::1]"] {
                #expect(try await console.curl(["http://\(host):\(console.port)/"]).exit == 7, "\(host)")
            }
            guard Self.isRoot else { return }
            let curl = try #require(RunningProgram.find("curl")).path
            let outcome = try await RunningProgram.run(
                URL(fileURLWithPath: "/usr/bin/env"),
                [
                    "unshare", "-n", "sh", "-c", "ip link set lo up; \"$0\" --silent \"$1\"", curl,
                    console.address + "/",
                ],
                in: console.folder, timeout: .seconds(30))
            #expect(outcome.status == 7, "\(outcome)")
        }

        @Test("The port for viewers has neither the page nor the interface")
        func viewersPort() async throws {
            let console = try await Console()
            defer { console.share.stop() }
            let files = PresenterFiles.names.subtracting(ViewerPage.names)
            let routes = ControlRoute.all.map {
                $0.path.replacing("{viewer}", with: "1").replacing("{subgroup}", with: "a")
            }
            #expect(files.contains("console.js"))
            for path in files + routes.map({ String($0.dropFirst()) }) {
                let secrets = [console.secret, console.share.token]
                for secret in secrets {
                    let answer = try await console.curl([
                        "--header", "Authorization: Bearer \(secret)", console.share.address + path,
                    ])
                    #expect(answer.status == 404, "\(path)")
                }
            }
        }

        // MARK: Pages of others

        private static let hasChromium = Peers.has(.chromium) && Peers.canDriveBrowsers

        /// A page of another origin that knows even the secret. Each attempt gives what it achieved.
        private static func attack(on console: Console) -> String {
            """
            <!doctype html><title>other origin</title><iframe name="form"></iframe><script type="module">
            const [target, secret] = ["\(console.address)", "\(console.secret)"];
            const loaded = (name, attributes) => new Promise((done) => {
              const element = Object.assign(document.createElement(name), attributes);
              element.onload = () => done("loaded");
              element.onerror = () => done("failed");
              document.body.append(element);
            });
            const read = (path, options) => fetch(target + path, options).then((answer) => answer.type, () => "failed");
            const headers = { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" };
            const socket = new Promise((done) => {
              const socket = new WebSocket(target.replace("http", "ws") + "/v1/share/events");
              socket.onopen = () => done("open");
              socket.onerror = () => done("failed");
            });
            const form = Object.assign(document.createElement("form"), { action: target + "/v1/viewers", method: "post", enctype: "text/plain", target: "form" });
            document.body.append(form);
            form.submit();
            const frame = Object.assign(document.createElement("iframe"), { src: target + "/" });
            const framed = new Promise((done) => { frame.onload = () => done(frame.contentDocument ? "readable" : "blocked"); });
            document.body.append(frame);
            window.results = await Promise.all([
              read("/v1/share", { headers }), read("/"), read("/v1/share", { method: "PATCH", headers, body: '{"isPaused":true}' }),
              read("/v1/share", { method: "DELETE", headers }),
              read("/v1/viewers", { method: "POST", mode: "no-cors", body: "{}" }),
              loaded("script", { src: target + "/console.js", type: "module" }), loaded("script", { src: target + "/v1/share" }),
              loaded("img", { src: target + "/icon.svg" }), loaded("img", { src: target + "/v1/links/qr" }), socket, framed,
            ]);
            </script>
            """
        }

        @Test(
            "A page of another origin reads and changes nothing", .timeLimit(.minutes(3)),
            .enabled(if: hasChromium, "needs Chromium and a Python that drives it"))
        func otherOrigin() async throws {
            let console = try await Console(["--ask"])
            defer { console.share.stop() }
            _ = try console.folder.write(Self.attack(on: console), to: "other/index.html")
            let server = try RunningProgram(
                try #require(RunningProgram.find("python3")),
                [
                    "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", console.folder.file("other").path,
                    "0",
                ],
                in: console.folder)
            defer { server.stop() }
            try await server.wait(for: "the server", timeout: .seconds(20)) { server.standardOutput.contains("port ") }
            let port = try #require(server.standardOutput.firstMatch(of: /port (\d+)/)?.1)
            let page = try await BrowserPage(.chromium, in: console.folder)
            try await page.go(to: "http://127.0.0.1:\(port)/")
            try await page.wait(until: "window.results !== undefined")
            let results = try #require(try await page.evaluate("results.join(' ')") as? String)
            #expect(results == String(repeating: "failed ", count: 10) + "blocked")
            let status = try await console.share.status()
            #expect(status.state == .waiting && status.viewers.isEmpty)
        }

        @Test(
            "A foreign name that leads to this machine gets nothing", .timeLimit(.minutes(3)),
            .enabled(if: hasChromium, "needs Chromium and a Python that drives it"))
        func rebinding() async throws {
            let console = try await Console()
            defer { console.share.stop() }
            let resolve = ["--resolve", "evil.example:\(console.port):127.0.0.1"]
            for path in ["/", "/console.js", "/v1/share"] {
                let url = "http://evil.example:\(console.port)\(path)"
                let answer = try await console.curl(
                    resolve + ["--header", "Authorization: Bearer \(console.secret)", url])
                #expect(answer.status == 421 && answer.text.contains("the request names another host"), "\(path)")
            }
            let chromium = try #require(RunningProgram.find("chromium"))
            let outcome = try await RunningProgram.run(
                chromium,
                [
                    "--headless", "--no-sandbox", "--user-data-dir=\(console.folder.file("profile").path)",
                    "--host-resolver-rules=MAP evil.example 127.0.0.1", "--dump-dom",
                    "http://evil.example:\(console.port)/",
                ], in: console.folder, timeout: .seconds(90))
            #expect(outcome.standardOutput.contains("the request names another host"), "\(outcome)")
        }

        // MARK: The commands

        /// A program in a directory of its own that writes its arguments to a file in the place of a browser.
        private static func fakeBrowser(in folder: TemporaryFolder) throws -> (environment: [String: String], log: URL)
        {
            let log = folder.file("opened")
            let program = try folder.write("#!/bin/sh\necho \"$@\" >> '\(log.path)'\n", to: "bin/xdg-open")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return (["PATH": "\(folder.file("bin").path):\(path)", "DISPLAY": ":77"], log)
        }

        @Test("Present opens the same page each time, also twice at once, and does not end the share")
        func present() async throws {
            let folder = try TemporaryFolder()
            let (environment, log) = try Self.fakeBrowser(in: folder)
            let share = try await ServedShare(environment: environment, in: folder)
            defer { share.stop() }
            for program in try [share.share.start(["present"]), share.share.start(["present"])] {
                let outcome = try await program.outcome(timeout: .seconds(30))
                #expect(outcome.status == 0 && outcome.standardOutput.isEmpty, "\(outcome)")
            }
            #expect(try await share.ask("present", "--name", "share").isEmpty)
            let links = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
            #expect(links.count == 3 && Set(links).count == 1 && links[0].hasPrefix("http://127.0.0.1:"), "\(links)")
            #expect(try await share.status().state == .waiting)
            try await share.ask("stop")
            let missing = try await share.ask("present", "--name", "share", status: 66)
            #expect(missing.hasPrefix("rtcshare: no share"), "\(missing)")
        }

        @Test(
            "The link is printed if there is no desktop, or if it is not known that a browser has opened it",
            arguments: [("", ":77"), ("exit 3", ":77"), ("/bin/sleep 5", ":77"), ("exit 0", "")])
        func missingBrowser(script: String, display: String) async throws {
            let folder = try TemporaryFolder()
            let environment = ["PATH": folder.file("bin").path, "DISPLAY": display, "BROWSER": "true"]
            try FileManager.default.createDirectory(at: folder.file("bin"), withIntermediateDirectories: true)
            if !script.isEmpty {
                let program = try folder.write("#!/bin/sh\n\(script)\n", to: "bin/xdg-open")
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
            }
            let share = try await ServedShare(environment: environment, in: folder)
            defer { share.stop() }
            #expect(try await share.ask("present").hasPrefix("http://127.0.0.1:"))
        }

        @Test("Serve --console prints the link of the page, but not in a journal")
        func console() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--console"], in: folder)
            defer { share.stop() }
            try await share.program.wait(for: "the link", timeout: .seconds(20)) {
                share.program.standardError.contains("Control: http://127.0.0.1:")
            }
            let link = try await share.ask("present").trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(share.program.standardError.contains("Control: \(link)\n"))
            #expect(!share.program.standardOutput.contains(link))

        }

        @Test(
            "In a journal, serve --console prints how to open the page, and not its link",
            arguments: [
                ("", "as the presenter, run: rtcshare present\n"),
                ("--name talk", "as the presenter, run: rtcshare present --name talk\n"),
                ("--control here.sock", "as the presenter, run: rtcshare present --control here.sock\n"),
                ("--no-control", "There is no page for you as the presenter"),
            ])
        func journal(option: String, words: String) async throws {
            let folder = try TemporaryFolder()
            let journal = folder.file("journal").path
            let command = """
                exec >"$1" 2>&1; JOURNAL_STREAM=$(stat -L -c %d:%i "$1") exec "$2" serve --console --source test \
                    --listen 127.0.0.1:0 \(option)
                """
            let environment = Interop.CommandLineTests.environment(folder).merging([
                "XDG_RUNTIME_DIR": folder.file("run").path
            ]) { $1 }
            let service = try RunningProgram(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", command, "sh", journal, try #require(Peers.rtcshare).path], environment: environment, in: folder)
            defer { service.stop() }
            let kept = { (try? String(contentsOfFile: journal, encoding: .utf8)) ?? "" }
            try await service.wait(for: "the share", timeout: .seconds(30)) { kept().contains(words) }
            #expect(!kept().contains("http://127.0.0.1"), "\(kept())")
        }

        @Test("The events of a page end with the reason")
        func end() async throws {
            let console = try await Console()
            defer { console.share.stop() }
            let events = try RunningProgram(
                try #require(RunningProgram.find("curl")),
                ["--silent", "--no-buffer", "--header", console.headers[0], console.address + "/v1/share/events"],
                in: console.folder)
            try await events.wait(for: "the state", timeout: .seconds(20)) { events.standardOutput.contains("data: ") }
            let stopped = try await console.curl("/v1/share", ["--request", "DELETE"])
            #expect(stopped.status == 200 && stopped.text.contains("The share has stopped."), "\(stopped)")
            let text = try await events.outcome(timeout: .seconds(20)).standardOutput
            #expect(text.hasPrefix("event: share\ndata: {"))
            #expect(text.contains("event: ended\ndata: {\"reason\":\"The share has stopped.\"}"), "\(text)")
        }

        @Test("A recording that is stopped and started again is another file, and messages have no link")
        func recordings() async throws {
            let console = try await Console(["--record", "film.webm"])
            defer { console.share.stop() }
            try await Task.sleep(for: .seconds(2))
            for isOn in [false, true, false] {
                let change = "{\"isRecording\":\(isOn)}"
                let answer = try await console.curl("/v1/share", ["--request", "PATCH", "--data", change])
                #expect(answer.status == 200, "\(answer)")
                #expect(try await console.share.status().recording?.file == (isOn ? "film-2.webm" : nil))
                if isOn { try await Task.sleep(for: .seconds(2)) }
            }
            for film in ["film.webm", "film-2.webm"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: console.folder.file(film).path)
                #expect((attributes[.size] as? Int ?? 0) > 10_000, "\(film)")
            }
            let messages = try await console.share.status().messages
            #expect(messages.allSatisfy { !$0.text.contains("#") && !$0.text.contains("http") }, "\(messages)")
        }

        private static let record = ["--request", "PATCH", "--data", #"{"isRecording":true}"#]

        @Test("A recording that the presenter starts and that fails does not fail the share")
        func fullDisk() async throws {
            let videos = try TemporaryFolder()
            let console = try await Console(environment: ["XDG_VIDEOS_DIR": videos.url.path], largestFile: 100)
            defer { console.share.stop() }
            let started = try await console.curl("/v1/share", Self.record)
            #expect(started.status == 200 && started.text.contains(videos.url.path), "\(started)")
            let program = console.share.program
            try await program.wait(for: "the end of the recording", timeout: .seconds(30)) {
                program.standardError.contains("the recording has ended")
            }
            #expect(try await console.curl("/v1/share", ["--request", "DELETE"]).status == 200)
            let outcome = try await program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome)")
        }

        @Test("A recording that can't be created is a conflict with the state of this machine")
        func noFile() async throws {
            let console = try await Console(environment: ["XDG_VIDEOS_DIR": "/proc"])
            defer { console.share.stop() }
            let answer = try await console.curl("/v1/share", Self.record)
            #expect(answer.status == 409 && answer.text.contains("/proc/rtcshare "), "\(answer)")
        }

        @Test("Viewers who wait are admitted when approval is not needed any more, once the link is open")
        func approval() async throws {
            let console = try await Console(["--ask"])
            defer { console.share.stop() }
            func change(_ change: String) async throws -> String {
                let answer = try await console.curl("/v1/share", ["--request", "PATCH", "--data", change])
                #expect(answer.status == 200, "\(answer)")
                return answer.text
            }
            let viewer = try console.share.view(["--duration", "1"])
            defer { viewer.stop() }
            try await console.share.wait(for: "a viewer who waits") {
                $0.first.map { $0.isWaiting && $0.state == .connected } == true
            }
            _ = try await change(#"{"isLocked":true}"#)
            #expect(try await change(#"{"needsApproval":false}"#).contains("the link is locked"))
            #expect(try await console.share.status().viewers.first?.isWaiting == true)
            _ = try await change(#"{"isLocked":false}"#)
            #expect(try await viewer.outcome(timeout: .seconds(30)).status == 0, "\(viewer.standardError)")
        }
    }
}
