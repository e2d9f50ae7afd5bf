internal import FoundationEssentials
internal import Glibc
internal import RTCShareCCURL

extension HTTPClient {
    struct Response: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]
        /// The URL of the response, after redirections.
        let url: WebAddress
        /// The IP address of the server, or of a proxy; empty for a Unix domain socket.
        var address = ""
        /// The first server, as a guide to further URLs; nil if it is unknown.
        var guide: Guide?

        /// The body without a UTF-8 byte order mark, as browsers read it.
        var text: ArraySlice<UInt8> {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return body.starts(with: mark) ? body.dropFirst(mark.count) : body[...]
        }

        /// Returns the headers among the lines of a head.
        static func headers(in lines: [String]) -> [(name: String, value: String)] {
            lines.compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].filter { !$0.isNewline }
                return (String(line[..<colon]), String(value.trimmingSpaces))
            }
        }

        var isSuccess: Bool { (200..<300).contains(status) }

        subscript(name: String) -> String? { all(name).first }

        func all(_ name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// The server's own message, shortened: of a problem (RFC 9457), of similar formats, or of text that is not
        /// HTML, whatever its declared type.
        var sentence: String? {
            let type = self["Content-Type"]?.lowercased() ?? ""
            guard let text = String(validating: text, as: UTF8.self) else { return nil }
            if type.contains("json") { return Self.sentence(ofJSON: text) }
            let isText = type.isEmpty || type.hasPrefix("text/") || type.hasPrefix("application/sdp")
            guard isText, let line = Self.shortened(text), !line.hasPrefix("<") else { return nil }
            return line
        }

        private static func sentence(ofJSON text: String) -> String? {
            struct Problem: Decodable {
                let detail: String?
                let error: String?
                let message: String?
                let title: String?
            }
            let decoder = JSONDecoder()
            if let problem = try? decoder.decode(Problem.self, from: Data(text.utf8)),
                let words = problem.detail ?? problem.error ?? problem.message ?? problem.title
            {
                return shortened(words)
            }
            // A JSON string, or something that is not a sentence but better than nothing.
            return shortened((try? decoder.decode(String.self, from: Data(text.utf8))) ?? text)
        }

        /// Returns the first line that is not empty, shortened.
        private static func shortened(_ text: String) -> String? {
            let line = text.split(whereSeparator: \.isNewline).lazy.map(\.trimmingSpaces).first { !$0.isEmpty }
            return line.map { String($0.prefix(300)) }
        }

        /// Returns the time to wait before a retry, if the server names one (RFC 9110 §10.2.3), as seconds or a date;
        /// at most an hour.
        func retryAfter(now: Date = Date()) -> Duration? {
            guard let text = self["Retry-After"] else { return nil }
            var seconds = Int(text).map(Double.init)
            if seconds == nil {
                let date = curl_getdate(text, nil)
                guard date >= 0 else { return nil }
                seconds = Double(date) - now.timeIntervalSince1970
            }
            return seconds.map { .seconds(Int(min(max($0, 0), 3600))) }
        }
    }
}
