internal import Glibc
import RTCShareCDBus

/// A connection to the session bus, on which the programs of a desktop answer.
package final class SessionBus: Sendable {
    /// The reason of a failure: its D-Bus name, and a sentence.
    package struct Failure: Error, Sendable {
        let name: String
        let reason: String

        /// Whether no answer came in time.
        package var isTimeout: Bool { name == DBUS_ERROR_NO_REPLY || name == DBUS_ERROR_TIMEOUT }

        /// Whether the called name has no owner, and no service can be started for it.
        var isUnknownService: Bool {
            name == "org.freedesktop.DBus.Error.ServiceUnknown" || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
                || name.hasPrefix("org.freedesktop.DBus.Error.Spawn")
        }
    }

    /// A received signal.
    package struct Signal: Sendable {
        /// The unique name of the sender. The bus writes it, so it can't be forged.
        package let sender: String
        package let path: String
        package let interface: String
        package let member: String
        package let arguments: [BusValue]
    }

    // libdbus locks within each of its functions after it was initialized for threads, and the pointer lives as long as
    // this object.
    nonisolated(unsafe) private let connection: OpaquePointer
    /// This connection's name on the bus, `:1.42`.
    let uniqueName: String
    /// The name in the paths of the portals' objects for this connection.
    package var pathName: String { String(uniqueName.dropFirst().replacing(".", with: "_")) }
    /// A descriptor that is readable when there may be a signal.
    let descriptor: Int32

    /// Connects to the bus at an address, or to the one in the environment.
    package init(address: String? = nil) throws(Failure) {
        guard dbus_threads_init_default() != 0 else { throw Failure(name: "", reason: "there is no memory for it") }
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let connection = Self.connect(address, &error) else { throw Failure(error) }
        // By default a lost bus ends the program.
        dbus_connection_set_exit_on_disconnect(connection, 0)
        var descriptor: Int32 = -1
        dbus_connection_get_unix_fd(connection, &descriptor)
        self.connection = connection
        self.descriptor = descriptor
        uniqueName = dbus_bus_get_unique_name(connection).map { String(cString: $0) } ?? ""
    }

    private static func connect(_ address: String?, _ error: inout DBusError) -> OpaquePointer? {
        guard let address else { return dbus_bus_get_private(DBUS_BUS_SESSION, &error) }
        guard let connection = dbus_connection_open_private(address, &error) else { return nil }
        guard dbus_bus_register(connection, &error) != 0 else {
            dbus_connection_close(connection)
            dbus_connection_unref(connection)
            return nil
        }
        return connection
    }

    deinit {
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    /// Returns the address of the session's bus; nil if the environment has none. Other than the library, this starts no
    /// bus.
    package static func address(in environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty, access("\(folder)/bus", F_OK) == 0,
            let escaped = dbus_address_escape_value("\(folder)/bus")
        else { return nil }
        defer { dbus_free(escaped) }
        return "unix:path=\(String(cString: escaped))"
    }

    /// Whether the bus is still connected.
    package var isConnected: Bool { dbus_connection_get_is_connected(connection) != 0 }

    /// Subscribes to the signals that match a rule.
    package func subscribe(_ rule: String) { dbus_bus_add_match(connection, rule, nil) }

    /// Calls a method, and waits for its answer.
    package func call(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue],
        patience: Duration = .seconds(25)
    ) throws(Failure) -> [BusValue] {
        let answer = try send(service, path, interface, method, arguments, patience: patience)
        defer { dbus_message_unref(answer) }
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(answer, &iterator) != 0 else { return [] }
        return BusValue.read(&iterator)
    }

    /// Calls a method without an answer. If nobody has the name, no service is started for it.
    package func notify(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = []
    ) {
        guard let message = Self.message(service, path, interface, method, arguments) else { return }
        defer { dbus_message_unref(message) }
        dbus_message_set_no_reply(message, 1)
        dbus_message_set_auto_start(message, 0)
        dbus_connection_send(connection, message, nil)
        dbus_connection_flush(connection)
    }

    /// Returns the unique name of the program that has a name; nil if none has it.
    package func owner(of name: String) -> String? {
        let bus = "org.freedesktop.DBus"
        return try? call(bus, "/org/freedesktop/DBus", bus, "GetNameOwner", [.string(name)]).first?.text
    }

    /// Waits until a message arrives, `other` is readable, or the bus is gone.
    package func wait(orReadable other: Int32) {
        var entries = [descriptor, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&entries, nfds_t(entries.count), -1)
    }

    /// Calls a method that returns a descriptor, which the caller closes.
    func callForDescriptor(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue]
    ) throws(Failure) -> Int32 {
        let answer = try send(service, path, interface, method, arguments, patience: .seconds(25))
        defer { dbus_message_unref(answer) }
        var iterator = DBusMessageIter()
        var descriptor: Int32 = -1
        if dbus_message_iter_init(answer, &iterator) != 0,
            dbus_message_iter_get_arg_type(&iterator) == cdbus_type_unix_fd
        {
            dbus_message_iter_get_basic(&iterator, &descriptor)
        }
        guard descriptor >= 0 else { throw Failure(name: "", reason: "\(method) gave no socket") }
        return descriptor
    }

    private func send(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue],
        patience: Duration
    ) throws(Failure) -> OpaquePointer {
        guard let message = Self.message(service, path, interface, method, arguments) else {
            throw Failure(name: "", reason: "this can't be sent to \(service)")
        }
        defer { dbus_message_unref(message) }
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard
            let answer = dbus_connection_send_with_reply_and_block(
                connection, message, patience.wholeMilliseconds, &error)
        else { throw Failure(error) }
        return answer
    }

    /// Returns a call. The library ends the process because of an invalid name or path, and services choose some of them.
    private static func message(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue]
    ) -> OpaquePointer? {
        guard dbus_validate_bus_name(service, nil) != 0, dbus_validate_path(path, nil) != 0,
            let message = dbus_message_new_method_call(service, path, interface, method)
        else { return nil }
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        for argument in arguments { argument.append(to: &iterator) }
        return message
    }

    /// Returns the next signal that has arrived, or arrives within `patience`; nil if there is none.
    package func nextSignal(within patience: Duration = .zero) -> Signal? {
        let deadline = monotonicNow() + patience
        var hasWaited = false
        while true {
            while let message = dbus_connection_pop_message(connection) {
                defer { dbus_message_unref(message) }
                if let signal = Self.signal(message) { return signal }
            }
            let left = deadline - monotonicNow()
            guard !hasWaited || left > .zero, isConnected else { return nil }
            dbus_connection_read_write(connection, max(left, .zero).wholeMilliseconds)
            hasWaited = true
        }
    }

    private static func signal(_ message: OpaquePointer) -> Signal? {
        guard dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_SIGNAL, let path = dbus_message_get_path(message),
            let interface = dbus_message_get_interface(message), let member = dbus_message_get_member(message)
        else { return nil }
        var iterator = DBusMessageIter()
        let hasArguments = dbus_message_iter_init(message, &iterator) != 0
        return Signal(
            sender: dbus_message_get_sender(message).map { String(cString: $0) } ?? "",
            path: String(cString: path), interface: String(cString: interface), member: String(cString: member),
            arguments: hasArguments ? BusValue.read(&iterator) : [])
    }
}

extension SessionBus.Failure {
    fileprivate init(_ error: DBusError) {
        self.init(
            name: error.name.map { String(cString: $0) } ?? "",
            reason: error.message.map { String(cString: $0) } ?? "no reason was given")
    }
}
