package import RTCShareWireFormat

/// The `o=` line: the creator of a description and the version of the session (RFC 8866 §5.2).
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// The user's name; `-` for none.
    package let username: String
    /// The digits that identify the session.
    package let sessionID: String
    /// The digits that increase with each new description of the session.
    package let sessionVersion: String
    /// The network type, address type and address.
    package let connection: ConnectionData

    /// Creates an origin for WebRTC: no user and no real address (RFC 9429 §5.2.1).
    package init(sessionID: UInt64, sessionVersion: UInt64) {
        username = "-"
        self.sessionID = String(sessionID)
        self.sessionVersion = String(sessionVersion)
        connection = ConnectionData(addressType: "IP4", address: "127.0.0.1")
    }

    init?(_ value: String) {
        let fields = value.fields
        guard fields.count == 6, fields[1].isDigits, fields[2].isDigits,
            let connection = ConnectionData(fields[3...].joined(separator: " "))
        else { return nil }
        username = String(fields[0])
        sessionID = String(fields[1])
        sessionVersion = String(fields[2])
        self.connection = connection
    }

    /// The value of the line.
    package var description: String { "\(username) \(sessionID) \(sessionVersion) \(connection)" }
}

/// The value of a `c=` line (RFC 8866 §5.7).
package struct ConnectionData: Hashable, Sendable, CustomStringConvertible {
    /// The network type, `IN`.
    package let networkType: String
    /// The address type: `IP4` or `IP6`.
    package let addressType: String
    /// An address or a name, with its scope for multicast.
    package let address: String

    /// Creates connection data of the Internet.
    package init(addressType: String, address: String) {
        networkType = "IN"
        self.addressType = addressType
        self.address = address
    }

    /// Creates the connection data of an address.
    package init(_ address: IPAddress) {
        self.init(addressType: address.isV4 ? "IP4" : "IP6", address: "\(address)")
    }

    /// Parses the value. Text after the address is ignored, as in browsers.
    init?(_ value: String) {
        let fields = value.fields
        guard fields.count >= 3, fields[0].isToken, fields[1].isToken else { return nil }
        networkType = String(fields[0])
        addressType = String(fields[1])
        address = String(fields[2])
    }

    /// The value of the line.
    package var description: String { "\(networkType) \(addressType) \(address)" }
}

/// The value of a `t=` line, in seconds since 1900; 0 means unbounded (RFC 8866 §5.9).
package struct Timing: Hashable, Sendable {
    /// The start of the session.
    package let start: UInt64
    /// The end of the session.
    package let stop: UInt64

    init?(_ value: String) {
        let fields = value.fields
        guard fields.count == 2, let start = fields[0].decimal(UInt64.self), let stop = fields[1].decimal(UInt64.self)
        else { return nil }
        self.start = start
        self.stop = stop
    }
}

/// A `b=` line (RFC 8866 §5.8).
package struct Bandwidth: Hashable, Sendable {
    /// The bandwidth type: `AS`, `TIAS`, `CT` or another name.
    package let type: String
    /// The number as written: kilobits per second, but bits per second for `TIAS` (RFC 3890 §6.2). It is nil only for a
    /// type that this project does not know.
    package let value: UInt64?

    init?(_ line: SDPLine) {
        guard line.type == UInt8(ascii: "b") else { return nil }
        let parts = line.content.parts(at: ":", atMost: 2)
        guard parts.count == 2, parts[0].isToken else { return nil }
        type = String(parts[0])
        value = parts[1].decimal(UInt64.self)
        guard value != nil || !["TIAS", "AS", "CT"].contains(type) else { return nil }
    }

    /// The rate; nil for a type that this project does not know.
    package var rate: DataRate? {
        switch (type, value) {
        case ("TIAS", let value?): .bitsPerSecond(value)
        case ("AS", let value?), ("CT", let value?): .kilobitsPerSecond(Int(clamping: min(value, UInt64(Int32.max))))
        default: nil
        }
    }
}
