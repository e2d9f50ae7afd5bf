internal import ArgumentParser
internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCShareSignaling

/// A route of the control interface. `openapi.json` describes each for its users.
struct ControlRoute: Sendable {
    /// The server's action for a request.
    enum Action: Hashable, Sendable {
        case ask(ControlRequest)
        /// Streams the state of the share.
        case watch
        /// Streams the sources of this machine, with images.
        case watchSources(SourceStream)
        /// Responds with an image of a source, in PNG.
        case image(spec: String, width: String?)
        /// Responds with the OpenAPI description of the interface.
        case describe
    }

    let method: HTTPMethod
    /// The path; a segment in braces matches any segment.
    let path: String
    /// The name of the operation in the OpenAPI description.
    let operation: String
    /// Parses a request; `segment` is the one that matches the segment in braces.
    let read: @Sendable (_ request: HTTPRequest, _ segment: String) throws -> Action

    private init(
        _ method: HTTPMethod, _ path: String, _ operation: String,
        read: @escaping @Sendable (HTTPRequest, _ segment: String) throws -> Action
    ) {
        (self.method, self.path, self.operation, self.read) = (method, path, operation, read)
    }

    static let all = [
        ControlRoute(.GET, "/v1/openapi.json", "getDescription") { _, _ in .describe },
        ControlRoute(.GET, "/v1/share", "getShare") { _, _ in .ask(.status) },
        ControlRoute(.POST, "/v1/share", "startShare") { request, _ in .ask(.start(try request.json(ShareStart.self)))
        },
        ControlRoute(.GET, "/v1/choices", "getChoices") { _, _ in .ask(.choices) },
        ControlRoute(.PATCH, "/v1/choices", "keepChoices") { request, _ in
            .ask(.keep(try request.json(ChangedChoices.self)))
        },
        ControlRoute(.GET, "/v1/sources", "getSources") { _, _ in .ask(.sources) },
        ControlRoute(.GET, "/v1/router", "getRouter") { _, _ in .ask(.router) },
        ControlRoute(.GET, "/v1/sources/events", "watchSources") { request, _ in
            let parameters = try request.parameters(of: ["width", "microphone", "camera"])
            return .watchSources(
                try SourceStream(
                    width: parameters["width"], microphone: parameters["microphone"], camera: parameters["camera"]))
        },
        ControlRoute(.GET, "/v1/image", "getImage") { request, _ in
            let parameters = try request.parameters(of: ["spec", "width"])
            guard let spec = parameters["spec"] else { throw unknown("its query has no spec") }
            return .image(spec: spec, width: parameters["width"])
        },
        ControlRoute(.PATCH, "/v1/share", "changeShare") { request, _ in
            .ask(try request.json(ShareChange.self).request)
        },
        ControlRoute(.DELETE, "/v1/share", "stopShare") { _, _ in .ask(.stop) },
        ControlRoute(.GET, "/v1/share/events", "watchShare") { _, _ in .watch },
        ControlRoute(.GET, "/v1/share/history", "getHistory") { _, _ in .ask(.history) },
        ControlRoute(.POST, "/v1/page", "openPage") { _, _ in .ask(.openPage) },
        ControlRoute(.GET, "/v1/links/qr", "getCode") { _, _ in .ask(.linkCode) },
        ControlRoute(.GET, "/v1/links", "getLinks") { request, _ in .ask(.link(subgroup: try request.subgroup)) },
        ControlRoute(.PUT, "/v1/subgroups/{subgroup}", "joinSubgroup") { .ask(.join(subgroup: $1)) },
        ControlRoute(.DELETE, "/v1/subgroups/{subgroup}", "leaveSubgroup") { .ask(.leave(subgroup: $1)) },
        ControlRoute(.POST, "/v1/viewers", "inviteViewer") { request, _ in
            let invitation = try request.json(Invitation.self)
            return .ask(.invite(main: invitation.main ?? true, subgroups: invitation.subgroups ?? []))
        },
        ControlRoute(.POST, "/v1/previews", "openPreview") { request, _ in
            let offer = try request.json(ControlDescription.self)
            guard offer.type == .offer, offer.viewer == nil else {
                throw ValidationError("use type offer, and no viewer")
            }
            return .ask(.openPreview(offer: offer.sdp))
        },
        ControlRoute(.DELETE, "/v1/previews/{preview}", "closePreview") {
            .ask(.closePreview(try number($1, of: "a preview")))
        },
        ControlRoute(.POST, "/v1/answers", "acceptAnswer") { request, _ in
            let answer = try request.json(ControlDescription.self)
            guard answer.type == .answer else { throw ValidationError("type: use answer") }
            return .ask(.accept(viewer: answer.viewer, answer: answer.sdp))
        },
        ControlRoute(.PATCH, "/v1/viewers/{viewer}", "admitViewer") { request, segment in
            let viewer = try number(segment)
            guard try request.json(Admission.self).isAdmitted else {
                throw ValidationError("isAdmitted: use true. To disconnect a viewer, delete it")
            }
            return .ask(.admit(viewer: viewer))
        },
        ControlRoute(.DELETE, "/v1/viewers/{viewer}", "removeViewer") {
            .ask(.kick(viewer: try number($1)))
        },
    ]

    private static func number(_ segment: String, of what: String = "a viewer") throws -> Int {
        guard let number = Int(segment) else { throw ValidationError("\(segment): use the number of \(what)") }
        return number
    }

    /// Returns the action for a request.
    static func action(for request: HTTPRequest) throws(ProblemDetails) -> Action {
        let found = all.compactMap { route in route.segment(of: request.target).map { (route, $0) } }
        guard !found.isEmpty else { throw unknown("there is no such path", .notFound) }
        guard let (route, segment) = found.first(where: { $0.0.method == request.method }) else {
            var problem = unknown("the path does not have the method \(request.method.rawValue)", .methodNotAllowed)
            problem.headers = [("Allow", found.map(\.0.method.rawValue).joined(separator: ", "))]
            throw problem
        }
        do {
            return try route.read(request, segment)
        } catch let problem as ProblemDetails {
            throw problem
        } catch let error as ValidationError {
            throw ProblemDetails(.unprocessableEntity, error.message, remedy: nil, exitStatus: 64)
        } catch {
            let failure = CommandFailure(explaining: error)
            throw ProblemDetails(
                .unprocessableEntity, failure.message, remedy: failure.remedy, exitStatus: failure.status.rawValue)
        }
    }

    /// Returns the segment that matches the one in braces, empty without one; nil for another path.
    private func segment(of target: HTTPTarget) -> String? {
        let pattern = path.split(separator: "/")
        guard pattern.count == target.segments.count, !target.endsInSlash else { return nil }
        var segment = ""
        for (expected, actual) in zip(pattern, target.segments) where expected != actual {
            guard expected.hasPrefix("{") else { return nil }
            segment = actual
        }
        return segment
    }

    /// Returns the path of the member that could not be decoded.
    fileprivate static func place(of error: DecodingError) -> String {
        let path: [any CodingKey] =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            case .keyNotFound(let key, let context): context.codingPath + [key]
            @unknown default: []
            }
        return path.map(\.stringValue).joined(separator: ".")
    }

    fileprivate static func unknown(_ reason: String, _ status: HTTPResponseStatus = .badRequest) -> ProblemDetails {
        ProblemDetails(
            status, "the share does not understand this request: \(reason)",
            remedy: "send the request as GET /v1/openapi.json describes it", exitStatus: 64)
    }
}

/// The membership of an invited viewer: the main room unless `main` is false, and subgroups.
private struct Invitation: Codable {
    var main: Bool?
    var subgroups: [String]?
}

private struct Admission: Codable {
    let isAdmitted: Bool
}

// MARK: Reading requests

extension HTTPRequest {
    /// Decodes the message in the body: JSON, without unknown members.
    fileprivate func json<Message: Codable>(_ type: Message.Type) throws(ProblemDetails) -> Message {
        guard contentType == "application/json" || contentType == "application/merge-patch+json" else {
            throw ProblemDetails(
                .unsupportedMediaType, "the request has no body of JSON", remedy: "Content-Type: application/json",
                exitStatus: 64)
        }
        do {
            let message = try ControlJSON.decode(type, from: body)
            let known = try ControlJSON.decode(Members.self, from: ControlJSON.encode(message))
            if let member = try ControlJSON.decode(Members.self, from: body).firstUnknown(besides: known) {
                throw ControlRoute.unknown("its member \(member) is unknown, or null")
            }
            return message
        } catch let problem as ProblemDetails {
            throw problem
        } catch {
            let place = (error as? DecodingError).map(ControlRoute.place(of:)) ?? ""
            guard !place.isEmpty else { throw ControlRoute.unknown("its body is not what this path takes") }
            throw ControlRoute.unknown("its member \(place) is missing or has a wrong value")
        }
    }

    /// The subgroup in the query.
    fileprivate var subgroup: String? {
        get throws {
            try parameters(of: ["subgroup"])["subgroup"].map { try Subgroup($0).name }
        }
    }

    /// The values of the query, which has no other names than these.
    fileprivate func parameters(of names: Set<String>) throws(ProblemDetails) -> [String: String] {
        guard let parameters = target.parameters, names.isSuperset(of: parameters.keys) else {
            throw ControlRoute.unknown("its query is unknown")
        }
        return parameters
    }
}

/// The members of a JSON text, without their values.
private enum Members: Decodable {
    case object([String: Members])
    case other

    /// Returns the path of the first member, in alphabetic order, that `known` does not have.
    func firstUnknown(besides known: Members) -> String? {
        guard case .object(let members) = self else { return nil }
        guard case .object(let known) = known else { return members.keys.min() }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            guard let other = known[name] else { return name }
            if let inner = member.firstUnknown(besides: other) { return "\(name).\(inner)" }
        }
        return nil
    }

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.singleValueContainer().decode([String: Members].self) {
            self = .object(members)
        } else {
            self = .other
        }
    }
}

// MARK: Sending requests

/// The HTTP request of a client.
struct ControlCall: Sendable {
    let method: HTTPMethod
    let path: String
    var body: [UInt8]?

    static let watch = ControlCall(.GET, "share/events")

    fileprivate init(_ method: HTTPMethod, _ path: String, body: [UInt8]? = nil) {
        (self.method, self.path, self.body) = (method, "/v1/" + path, body)
    }

    fileprivate init(_ method: HTTPMethod, _ path: String, _ message: some Encodable) throws {
        self.init(method, path, body: try ControlJSON.encode(message))
    }
}

extension ControlRequest {
    /// The HTTP request for it.
    var call: ControlCall {
        get throws {
            switch self {
            case .status: ControlCall(.GET, "share")
            case .stop: ControlCall(.DELETE, "share")
            case .link(nil): ControlCall(.GET, "links")
            case .linkCode: ControlCall(.GET, "links/qr")
            case .history: ControlCall(.GET, "share/history")
            case .openPage: ControlCall(.POST, "page")
            case .start(let start): try ControlCall(.POST, "share", start)
            case .choices: ControlCall(.GET, "choices")
            case .keep(let choices): try ControlCall(.PATCH, "choices", choices)
            case .sources: ControlCall(.GET, "sources")
            case .router: ControlCall(.GET, "router")
            case .link(let subgroup?): ControlCall(.GET, "links?subgroup=\(try Subgroup(subgroup))")
            case .join(let subgroup): ControlCall(.PUT, "subgroups/\(try Subgroup(subgroup))")
            case .leave(let subgroup): ControlCall(.DELETE, "subgroups/\(try Subgroup(subgroup))")
            case .invite(let main, let subgroups):
                try ControlCall(.POST, "viewers", Invitation(main: main, subgroups: subgroups))
            case .accept(let viewer, let answer):
                try ControlCall(
                    .POST, "answers", ControlDescription(viewer: viewer, type: .answer, sdp: answer))
            case .admit(let viewer): try ControlCall(.PATCH, "viewers/\(viewer)", Admission(isAdmitted: true))
            case .kick(let viewer): ControlCall(.DELETE, "viewers/\(viewer)")
            case .openPreview(let offer):
                try ControlCall(.POST, "previews", ControlDescription(type: .offer, sdp: offer))
            case .closePreview(let preview): ControlCall(.DELETE, "previews/\(preview)")
            default: try ControlCall(.PATCH, "share", ShareChange(self))
            }
        }
    }
}
