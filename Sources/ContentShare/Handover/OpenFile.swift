package import FoundationEssentials
internal import Glibc

/// An open file, socket or pipe, whose descriptor is closed when the object is released.
package final class OpenFile: Sendable {
    private let descriptor: Int32
    private let isClosedAtEnd: Bool

    package static let standardInput = OpenFile(lending: STDIN_FILENO)
    package static let standardOutput = OpenFile(lending: STDOUT_FILENO)

    /// Owns an open descriptor.
    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isClosedAtEnd = true
    }

    /// Uses an open descriptor that the caller closes.
    package init(lending descriptor: Int32) {
        self.descriptor = descriptor
        isClosedAtEnd = false
    }

    /// Opens the file at `path` for reading.
    package convenience init(reading path: String) throws(POSIXError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        self.init(descriptor)
    }

    /// Returns at most `count` bytes from the beginning of a regular file. Nil for anything else, which could block the
    /// reader.
    package static func beginning(ofRegularFile path: String, atMost count: Int) -> [UInt8]? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return try? OpenFile(reading: path).read(atMost: count)
    }

    deinit {
        if isClosedAtEnd { close(descriptor) }
    }

    /// Reads the available bytes, at most `count`. The result is empty at the end.
    package func read(atMost count: Int) throws(POSIXError) -> [UInt8] {
        do {
            return try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                repeat {
                    let result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                    initialized = max(result, 0)
                    if result >= 0 { return }
                } while errno == EINTR
                throw POSIXError.last
            }
        } catch let error as POSIXError {
            throw error
        } catch {
            // The closure throws only this error, but the initializer is declared without its type.
            throw POSIXError(.EIO)
        }
    }

    /// Reads to the end, or `limit` bytes and some more.
    package func readToEnd(atMost limit: Int = .max) throws(POSIXError) -> Data {
        var data = Data()
        while data.count <= limit {
            let part = try read(atMost: 1 << 16)
            guard !part.isEmpty else { break }
            data.append(contentsOf: part)
        }
        return data
    }

    package func write(_ data: Data) throws(POSIXError) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw .last
            }
        }
    }
}

extension POSIXError {
    /// The error of the last system call.
    package static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
