internal import Glibc
import RTCShareCDBus

/// A D-Bus value, of the types that portals and notifications use.
package indirect enum BusValue: Sendable, Equatable {
    case boolean(Bool)
    case byte(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    case string(String)
    case objectPath(String)
    /// A dictionary, `a{sv}`.
    case dictionary([String: BusValue])
    /// An array whose elements have this signature.
    case array(of: String, [BusValue])
    case structure([BusValue])
    /// A value of another type, which can't be sent.
    case other

    /// The number, if it is one.
    package var number: Int? {
        switch self {
        case .byte(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        default: nil
        }
    }

    /// The text, if it is one.
    package var text: String? {
        switch self {
        case .string(let text), .objectPath(let text): text
        default: nil
        }
    }

    /// Returns the value of a key, if this is a dictionary with that key.
    package subscript(name: String) -> BusValue? {
        guard case .dictionary(let entries) = self else { return nil }
        return entries[name]
    }

    /// Returns the value at an index, if this is an array or a structure with that index.
    subscript(place: Int) -> BusValue? {
        elements.indices.contains(place) ? elements[place] : nil
    }

    /// The values in an array or in a structure.
    package var elements: [BusValue] {
        switch self {
        case .array(_, let values), .structure(let values): values
        default: []
        }
    }
}

extension BusValue {
    /// Appends the value to a message. Text ends at its first zero byte. Without a value that can't be sent, the receiver
    /// rejects the message.
    func append(to iterator: inout DBusMessageIter) {
        switch self {
        case .boolean(let value):
            var number: dbus_bool_t = value ? 1 : 0
            dbus_message_iter_append_basic(&iterator, cdbus_type_boolean, &number)
        case .byte(var number): dbus_message_iter_append_basic(&iterator, cdbus_type_byte, &number)
        case .int32(var number): dbus_message_iter_append_basic(&iterator, cdbus_type_int32, &number)
        case .uint32(var number): dbus_message_iter_append_basic(&iterator, cdbus_type_uint32, &number)
        case .string(let text): Self.append(text, cdbus_type_string, to: &iterator)
        case .objectPath(let text):
            // The library ends the process because of an invalid path.
            if dbus_validate_path(text, nil) != 0 { Self.append(text, cdbus_type_object_path, to: &iterator) }
        case .dictionary(let entries):
            Self.append(container: cdbus_type_array, of: "{sv}", to: &iterator) { array in
                for (name, value) in entries.sorted(by: { $0.key < $1.key }) {
                    Self.append(container: cdbus_type_dict_entry, of: nil, to: &array) { entry in
                        Self.append(name, cdbus_type_string, to: &entry)
                        Self.append(container: cdbus_type_variant, of: value.signature, to: &entry) {
                            value.append(to: &$0)
                        }
                    }
                }
            }
        case .array(let signature, let values):
            Self.append(container: cdbus_type_array, of: signature, to: &iterator) { array in
                for value in values where value.signature == signature { value.append(to: &array) }
            }
        case .structure(let values):
            Self.append(container: cdbus_type_struct, of: nil, to: &iterator) { structure in
                for value in values { value.append(to: &structure) }
            }
        case .other: break
        }
    }

    /// The signature that ``append(to:)`` writes.
    private var signature: String {
        switch self {
        case .boolean: "b"
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .objectPath: "o"
        case .dictionary: "a{sv}"
        case .array(let signature, _): "a\(signature)"
        case .structure(let values): "(\(values.map(\.signature).joined()))"
        case .string, .other: "s"
        }
    }

    private static func append(_ text: String, _ type: Int32, to iterator: inout DBusMessageIter) {
        text.withCString {
            var pointer: UnsafePointer<CChar>? = $0
            _ = dbus_message_iter_append_basic(&iterator, type, &pointer)
        }
    }

    private static func append(
        container: Int32, of signature: String?, to iterator: inout DBusMessageIter,
        _ fill: (inout DBusMessageIter) -> Void
    ) {
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, container, signature, &inner) != 0 else { return }
        fill(&inner)
        dbus_message_iter_close_container(&iterator, &inner)
    }

    /// The maximum depth: portals send nothing deeper.
    private static let deepest = 16

    /// Returns the values from here to the end of a message or of a container.
    static func read(_ iterator: inout DBusMessageIter, depth: Int = 0) -> [BusValue] {
        var values: [BusValue] = []
        while dbus_message_iter_get_arg_type(&iterator) != cdbus_type_invalid {
            values.append(readOne(&iterator, depth: depth))
            dbus_message_iter_next(&iterator)
        }
        return values
    }

    private static func readOne(_ iterator: inout DBusMessageIter, depth: Int) -> BusValue {
        func basic<Value: BitwiseCopyable>(_ zero: Value) -> Value {
            var value = zero
            dbus_message_iter_get_basic(&iterator, &value)
            return value
        }
        func inner() -> [BusValue] {
            guard depth < deepest else { return [] }
            var iterator = iterator
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return read(&inner, depth: depth + 1)
        }
        let type = dbus_message_iter_get_arg_type(&iterator)
        switch type {
        case cdbus_type_boolean: return .boolean(basic(dbus_bool_t(0)) != 0)
        case cdbus_type_byte: return .byte(basic(UInt8(0)))
        case cdbus_type_int32: return .int32(basic(Int32(0)))
        case cdbus_type_uint32: return .uint32(basic(UInt32(0)))
        case cdbus_type_string, cdbus_type_object_path:
            let text = basic(UnsafePointer<CChar>?.none).map { String(cString: $0) } ?? ""
            return type == cdbus_type_string ? .string(text) : .objectPath(text)
        case cdbus_type_variant: return inner().first ?? .other
        case cdbus_type_array where dbus_message_iter_get_element_type(&iterator) == cdbus_type_dict_entry:
            var entries: [String: BusValue] = [:]
            for entry in inner() { if let name = entry[0]?.text { entries[name] = entry[1] } }
            return .dictionary(entries)
        case cdbus_type_array:
            let values = inner()
            return .array(of: values.first?.signature ?? "s", values)
        case cdbus_type_struct, cdbus_type_dict_entry: return .structure(inner())
        default: return .other
        }
    }
}
