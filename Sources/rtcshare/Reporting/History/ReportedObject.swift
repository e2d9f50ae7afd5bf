internal import FoundationEssentials
internal import RTCShareWireFormat

/// An object of a statistics report, as a file has it. The file may be anybody's: whatever is not what it should be is absent.
struct ReportedObject {
    /// Why a line is no report.
    enum Defect: Error {
        case notJSON
        case notAnArray
        /// The member of webrtc-stats that every object has, and this one lacks.
        case memberMissing(String)
    }

    /// What a member may be.
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
    /// Seconds since 1970.
    let time: Double

    private let members: [String: Member]

    /// Later than any time that a browser's `Date` knows, in seconds since 1970.
    private static let latestTime = 8.64e12
    /// What no count, rate or time comes to.
    private static let largestNumber = 1e15
    /// Names and SPECs are shorter.
    private static let longestText = 200

    /// The objects of a line.
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

    /// A count or a measure.
    func number(_ name: String) -> Double? {
        guard let value = members[name]?.number, abs(value) <= Self.largestNumber else {
            return nil
        }
        return value
    }

    /// A name, as a person may be shown it.
    func text(_ name: String) -> String? {
        members[name]?.text.map { String($0.prefix(Self.longestText)).printable }
    }

    /// Yes or no.
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
