internal import FoundationEssentials
internal import RTCShareWireFormat

/// An object of a statistics report in a file. The file is untrusted: invalid members count as missing.
struct ReportedObject {
    /// The reason why a line is not a report.
    enum Defect: Error {
        case notJSON
        case notAnArray
        /// A member that webrtc-stats requires in every object is missing.
        case memberMissing(String)
    }

    /// The value of a member.
    private enum Member: Decodable {
        case number(Double)
        case text(String)
        case flag(Bool)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // Most are numbers.
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else {
                self = .other
            }
        }

        var number: Double? { if case .number(let number) = self { number } else { nil } }
        var text: String? { if case .text(let text) = self { text } else { nil } }
        var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    }

    let id: String
    let type: String
    /// The time in seconds since 1970.
    let time: Double

    private let members: [String: Member]

    /// The latest time of a browser's `Date`, in seconds since 1970.
    private static let latestTime = 8.64e12
    /// The maximum absolute value of a count, rate or time.
    private static let largestNumber = 1e15
    /// The maximum length of a name or SPEC.
    private static let longestText = 200

    /// Parses the objects of a line.
    static func report(_ line: Data) throws(Defect) -> [ReportedObject] {
        do {
            let values = try JSONDecoder().decode([[String: Member]].self, from: line)
            return try values.map { members throws(Defect) in try ReportedObject(members) }
        } catch let defect as Defect {
            throw defect
        } catch DecodingError.dataCorrupted {
            throw .notJSON
        } catch {
            throw .notAnArray
        }
    }

    private init(_ members: [String: Member]) throws(Defect) {
        guard let id = members["id"]?.text else { throw .memberMissing("id") }
        guard let type = members["type"]?.text else { throw .memberMissing("type") }
        guard let milliseconds = members["timestamp"]?.number,
            (0...Self.latestTime).contains(milliseconds / 1000)
        else { throw .memberMissing("timestamp") }
        self.id = id
        self.type = type
        time = milliseconds / 1000
        self.members = members
    }

    /// Returns a count or a measurement.
    func number(_ name: String) -> Double? {
        guard let value = members[name]?.number, abs(value) <= Self.largestNumber else {
            return nil
        }
        return value
    }

    /// Returns a name, in a form that is safe to print.
    func text(_ name: String) -> String? {
        members[name]?.text.map { String($0.prefix(Self.longestText)).printable }
    }

    /// Returns a flag.
    func flag(_ name: String) -> Bool? { members[name]?.flag }
}

extension ReportedObject.Defect: CustomStringConvertible {
    var description: String {
        switch self {
        case .notJSON: "it is not JSON"
        case .notAnArray: "it is not an array of objects"
        case .memberMissing(let name): "it has an object without \(name)"
        }
    }
}
