internal import FoundationEssentials
internal import Glibc
internal import RTCShareCCURL

extension HTTPClient {
    struct Response: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]
        /// Whose response it is, after redirections.
        let url: WebAddress
        /// The first server, as a guide to further URLs; nil where that is not known.
        var guide: Guide?

        /// The body without the mark that UTF-8 may begin with, as browsers read it.
        var text: ArraySlice<UInt8> {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return body.starts(with: mark) ? body.dropFirst(mark.count) : body[...]
        }

        /// The headers among the lines of a head.
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

        /// A sentence of the server's own, shortened: of a problem (RFC 9457), of what servers have in its place, or of text that
        /// is no page, whatever its type is said to be.
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
            // A string of JSON, or something that is no sentence and yet tells more than nothing.
            return shortened((try? decoder.decode(String.self, from: Data(text.utf8))) ?? text)
        }

        /// The first line that holds something.
        private static func shortened(_ text: String) -> String? {
            let line = text.split(whereSeparator: \.isNewline).lazy.map(\.trimmingSpaces).first { !$0.isEmpty }
            return line.map { String($0.prefix(300)) }
        }

        /// How long to wait before asking again, where the server says (RFC 9110 §10.2.3): seconds, or a date. No more than
        /// an hour is believed.
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
