package import RTCSharePeerConnection

extension StatisticsObject {
    /// The id, the type, and the members' names with a sign for their types: `#` for an integer, `.` for a number, `"`
    /// for a text, `?` for a flag, `{}` for a record.
    package var outline: String {
        let names = members.map { name, value in
            switch value {
            case .integer: "\(name)#"
            case .number: "\(name)."
            case .text: "\(name)\""
            case .flag: "\(name)?"
            case .record: "\(name){}"
            }
        }
        return ([id, type.rawValue] + names.sorted()).joined(separator: " ")
    }
}
