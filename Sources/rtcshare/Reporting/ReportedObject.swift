internal import Foundation
internal import RTCShareWireFormat

/// An object of a statistics report, as a file has it. The file may be anybody's: whatever is not what it should be is absent.
struct ReportedObject {
    /// Why a line is no report.
    enum Defect: Error {
        case notJSON(String)
        case notAnArray
        /// The member of webrtc-stats that every object has, and this one lacks.
        case memberMissing(String)
    }

    let id: String
    let type: String
    /// Seconds since 1970.
    let time: Double

    private let members: [String: Any]

    /// Later than any time that a browser's `Date` knows, in seconds since 1970.
    private static let latestTime = 8.64e12
    /// What no count, rate or time comes to.
    private static let largestNumber = 1e15
    /// Names and SPECs are shorter.
    private static let longestText = 200

    /// The objects of a line.
    static func report(_ line: Data) throws(Defect) -> [ReportedObject] {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: line)
        } catch {
            let reason = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            throw .notJSON(reason?.trimmingCharacters(in: ["."]) ?? "it can't be parsed")
        }
        guard let values = value as? [Any] else { throw .notAnArray }
        var objects: [ReportedObject] = []
        for value in values {
            guard let members = value as? [String: Any] else { throw .notAnArray }
            objects.append(try ReportedObject(members))
        }
        return objects
    }

    private init(_ members: [String: Any]) throws(Defect) {
        guard let id = members["id"] as? String else { throw .memberMissing("id") }
        guard let type = members["type"] as? String else { throw .memberMissing("type") }
        guard let milliseconds = (members["timestamp"] as? NSNumber)?.doubleValue,
            (0...Self.latestTime).contains(milliseconds / 1000)
        else { throw .memberMissing("timestamp") }
        self.id = id
        self.type = type
        time = milliseconds / 1000
        self.members = members
    }

    /// A count or a measure.
    func number(_ name: String) -> Double? {
        guard let value = (members[name] as? NSNumber)?.doubleValue, abs(value) <= Self.largestNumber else {
            return nil
        }
        return value
    }

    /// A name, as a person may be shown it.
    func text(_ name: String) -> String? {
        (members[name] as? String).map { String($0.prefix(Self.longestText)).printable }
    }

    /// Yes or no.
    func flag(_ name: String) -> Bool? { members[name] as? Bool }
}

extension ReportedObject.Defect: CustomStringConvertible {
    var description: String {
        switch self {
        case .notJSON(let reason): "it is no JSON: \(reason)"
        case .notAnArray: "it is no array of objects"
        case .memberMissing(let name): "an object of it has no \(name)"
        }
    }
}
