package import RTCShareWireFormat

/// The reason why capture failed.
public struct CaptureSourceError: Error, Sendable {
    /// The kind of a failure.
    public enum Kind: Sendable, Hashable {
        /// Any other failure.
        case unknown
        /// The system, the display or the sound server rejected an operation, or became unavailable.
        case systemFailure
        /// The requested source or format can't be captured.
        case configurationFailure
        /// A frame was invalid, and was dropped.
        case invalidFrame
    }

    /// The kind of the failure.
    public let kind: Kind
    /// The failure and its reason and, separately, a remedy.
    package let explanation: Explanation

    /// Creates a failure with a description.
    public init(_ kind: Kind, _ description: String) { self.init(kind, Explanation(description)) }

    /// Creates a failure with a description and, separately, a remedy.
    package init(_ kind: Kind, _ explanation: Explanation) {
        self.kind = kind
        self.explanation = explanation
    }

    /// Creates the failure that represents an error: the error itself if it is one, or its description.
    public init(_ error: any Error) {
        self =
            error as? CaptureSourceError
            ?? CaptureSourceError((error as? any CaptureFailure)?.kind ?? .unknown, Explanation(error))
    }
}

extension CaptureSourceError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension CaptureSourceError: ExplainedError {}

/// An error that has a kind of capture failure.
public protocol CaptureFailure: Error {
    /// The kind of failure.
    var kind: CaptureSourceError.Kind { get }
}
