/// What a person can try about a network: a sentence, in which each setting stands as a ``Setting``.
///
/// A program that has names of its own for its settings, options of a command line for instance, says the sentence by
/// ``words(naming:)``; ``description`` names them as this library does.
package struct NetworkAdvice: Sendable, Hashable {
    /// What a program would set, or do, to follow the advice.
    package enum Setting: Sendable, Hashable {
        /// A server among ``Connection/Configuration/iceServers``: its URL, in which capitals stand for what only the user
        /// knows.
        case iceServer(String)
        /// Any of ``Connection/Configuration/iceServers``.
        case iceServers
        /// ``Connection/Configuration/addresses``.
        case address
        /// ``Connection/Configuration/port``.
        case port
        /// User name and password, which ``ICEServer/init(url:username:password:)`` takes.
        case credentials
        /// ``Connection/Configuration/resolvesHostNames``.
        case resolvesHostNames
        /// ``NetworkDiagnosis/examine(servers:trustRoots:eventLoopGroup:logger:)``, with such servers.
        case examination([String])

        /// A relay that is asked over UDP.
        static let relay = Setting.iceServer("turn:USER:PASSWORD@HOST")
        /// A relay that is asked over TCP.
        static let relayOverTCP = Setting.iceServer("turn:USER:PASSWORD@HOST?transport=tcp")
        /// A server that says how this machine looks from outside.
        static let reflexive = Setting.iceServer("stun:HOST")
    }

    fileprivate enum Part: Sendable, Hashable {
        case text(String)
        case setting(Setting)
    }

    fileprivate let parts: [Part]

    /// What it takes to follow the advice, in the order of the sentence.
    package var settings: [Setting] {
        parts.compactMap { if case .setting(let setting) = $0 { setting } else { nil } }
    }

    /// The sentence, with each setting as `name` says it.
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
        case .resolvesHostNames: "`resolvesHostNames`"
        case .examination(let urls):
            "`NetworkDiagnosis.examine`" + (urls.isEmpty ? "" : " with \(urls.joined(separator: ", "))")
        }
    }
}

extension NetworkAdvice: ExpressibleByStringInterpolation {
    /// A sentence as it is written, with its settings in their places.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        /// An empty sentence.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Goes on with these words.
        package mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { parts.append(.text(literal)) }
        }

        /// Goes on with these words.
        package mutating func appendInterpolation(_ text: String) { appendLiteral(text) }

        /// Goes on with a setting.
        package mutating func appendInterpolation(_ setting: Setting) { parts.append(.setting(setting)) }
    }

    /// A sentence without a setting.
    package init(stringLiteral value: String) { parts = [.text(value)] }

    /// A sentence with settings.
    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }
}
