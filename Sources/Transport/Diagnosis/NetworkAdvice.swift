/// A sentence of advice about a network, in which each setting is a ``Setting``.
///
/// ``words(naming:)`` returns the sentence with a program's own names of settings, for example options of a command
/// line; ``description`` uses this library's names.
package struct NetworkAdvice: Sendable, Hashable {
    /// A setting, or an action, to follow the advice.
    package enum Setting: Sendable, Hashable {
        /// A server among ``Connection/Configuration/iceServers``: its URL, with capitals for parts that only the user
        /// knows.
        case iceServer(String)
        /// Any of ``Connection/Configuration/iceServers``.
        case iceServers
        /// ``Connection/Configuration/addresses``.
        case address
        /// ``Connection/Configuration/port``.
        case port
        /// The user name and password of ``ICEServer/init(url:username:password:)``.
        case credentials
        /// ``Connection/Configuration/acceptsTCP``.
        case acceptsTCP
        /// ``Connection/Configuration/resolvesHostNames``.
        case resolvesHostNames
        /// A call of ``NetworkDiagnosis/examine(servers:trustRoots:eventLoopGroup:logger:)``, with such servers.
        case examination([String])

        /// A relay over UDP.
        static let relay = Setting.iceServer("turn:USER:PASSWORD@HOST")
        /// A relay over TCP.
        package static let relayOverTCP = Setting.iceServer("turn:USER:PASSWORD@HOST?transport=tcp")
        /// A relay over TLS at the port of HTTPS, which most firewalls let through.
        static let relayOverTLS = Setting.iceServer("turns:USER:PASSWORD@HOST:443")
        /// A server that reports the public address of this machine.
        static let reflexive = Setting.iceServer("stun:HOST")
    }

    fileprivate enum Part: Sendable, Hashable {
        case text(String)
        case setting(Setting)
    }

    fileprivate let parts: [Part]

    /// The settings to follow the advice, in the order of the sentence.
    package var settings: [Setting] {
        parts.compactMap { if case .setting(let setting) = $0 { setting } else { nil } }
    }

    /// Returns the sentence, with each setting as `name` returns it.
    package func words(naming name: (Setting) -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .setting(let setting): name(setting)
            }
        }.joined()
    }

    static func + (first: NetworkAdvice, second: NetworkAdvice) -> NetworkAdvice {
        NetworkAdvice(parts: first.parts + second.parts)
    }
}

extension NetworkAdvice: CustomStringConvertible {
    /// The sentence in this library's words.
    package var description: String { words(naming: \.description) }
}

extension NetworkAdvice.Setting: CustomStringConvertible {
    /// The setting in this library's words.
    package var description: String {
        switch self {
        case .iceServer(let url): "\(url) in `iceServers`"
        case .iceServers: "`iceServers`"
        case .address: "`addresses`"
        case .port: "`port`"
        case .credentials: "give both to `ICEServer(urls:username:credential:)`"
        case .acceptsTCP: "`acceptsTCP`"
        case .resolvesHostNames: "`resolvesHostNames`"
        case .examination(let urls):
            "`NetworkDiagnosis.examine`" + (urls.isEmpty ? "" : " with \(urls.joined(separator: ", "))")
        }
    }
}

extension NetworkAdvice: ExpressibleByStringInterpolation {
    /// A sentence in the source code, with its settings.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        /// Creates an empty sentence.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends a text.
        package mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { parts.append(.text(literal)) }
        }

        /// Appends a text.
        package mutating func appendInterpolation(_ text: String) { appendLiteral(text) }

        /// Appends a setting.
        package mutating func appendInterpolation(_ setting: Setting) { parts.append(.setting(setting)) }
    }

    /// Creates a sentence without a setting.
    package init(stringLiteral value: String) { parts = [.text(value)] }

    /// Creates a sentence with settings.
    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }
}
