internal import Glibc
internal import RTCShareAudioCoding
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCSharePlayback
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

extension CommandFailure {
    /// Creates the status and the words for an error of the library.
    init(explaining error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let rejection as AnswerFile.Rejection: self = rejection.failure
        case ConnectionError.unreachable(let facts) as ConnectionError: self.init(unreachable: facts)
        default: self.init(Self.status(of: error), Self.explanation(of: error))
        }
    }

    /// Creates the report of a connection without a working candidate pair: several lines.
    private init(unreachable facts: ConnectivityFacts) {
        let words = ConnectionError.unreachable(facts).explanation(naming: \.words).problem
        self.init(.unavailable, report: words.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    private static func status(of error: any Error) -> Status {
        switch error {
        case is SDPError, is NegotiationError, is HandoverError: .badInput
        case is AttendeeIDError, is SpecificationError, is SubgroupError: .usage
        case is PublicationEnded, is HTTPClientError, is VideoWindowError: .unavailable
        case let error as ConnectionError: error.status
        case let error as ICEServerError: error.status
        case let error as CaptureError: error.status
        case let error as CaptureSourceError: error.kind == .systemFailure ? .unavailable : .internalError
        case let error as BroadcastError: error.status
        case let error as AudioFileError: error.status
        case .configuration as ContentShareError: .usage
        case is ContentShareError: .unavailable
        case let error as SharingRoomError: error.status
        case let error as WHEPError: error.status
        case let error as WHIPError: error.status
        case let error as JanusError: error.status
        case let error as ViewerServerError: error.status
        case let error as MediaFileError: error.status
        default: .internalError
        }
    }

    /// Returns the words for an error, with this program's names of options and commands.
    private static func explanation(of error: any Error) -> Explanation {
        switch error {
        case let error as ConnectionError: error.explanation(naming: \.words)
        case let error as ICEServerError: error.explanation(naming: \.words)
        case let error as CaptureError: error.explanation(naming: \.words)
        case let error as WHIPError:
            error.explanation(namingToken: "its token with --whip-token-file, or in RTCSHARE_WHIP_TOKEN")
        case let error as JanusError: error.explanation(.options)
        case .notJoined(let subgroup) as SharingRoomError:
            Explanation(Explanation(error).problem, remedy: "rtcshare subgroup join \(subgroup)")
        case .sharingTo as SharingRoomError:
            Explanation(Explanation(error).problem, remedy: "rtcshare destination main")
        case .unknownViewer as SharingRoomError, .unknownViewer as ViewerServerError:
            Explanation(Explanation(error).problem, remedy: "rtcshare status")
        case .unsuitableVideo(let path, _, _) as MediaFileError:
            Explanation(
                Explanation(error).problem,
                remedy: "--record \(path[..<(path.lastIndex(of: ".") ?? path.endIndex)]).mkv")
        default: Explanation(error)
        }
    }
}

extension WHEPError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .url: .usage
        case .token: .badInput
        case .refused(let refusal): refusal.exitStatus
        case .noAnswer: .protocol
        case .removed, .declined: .notPermitted
        case .sessionGone, .lost: .unavailable
        }
    }
}

extension WHIPError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .url, .userInformation: .usage
        case .refused(let refusal): refusal.exitStatus
        case .noAnswer: .protocol
        case .pictureDeclined, .sessionGone, .lost: .unavailable
        }
    }
}

extension JanusError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .url, .userInformation: .usage
        case .refused(let refusal): refusal.isOfPermission ? .notPermitted : .unavailable
        case .noJanus, .noAnswer: .protocol
        case .kicked: .notPermitted
        case .pictureDeclined, .noPublisher, .roomGone, .hungUp, .sessionGone, .connectionClosed, .lost:
            .unavailable
        }
    }
}

extension JanusError.Words {
    /// The options in place of the library's words.
    fileprivate static let options = {
        var words = JanusError.Words()
        words.room = "--janus-room"
        words.pin = "the room's PIN with --janus-pin-file"
        words.secret = "the server's API secret with --janus-secret-file"
        words.token = "a token with --janus-token-file"
        return words
    }()
}

extension EndpointRefusal {
    fileprivate var exitStatus: CommandFailure.Status {
        status == 401 || status == 403 ? .notPermitted : .unavailable
    }
}

extension SharingRoomError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .nowhere, .notJoined: .usage
        case .unknownViewer: .inputMissing
        case .ended, .sharingTo, .tooManyViewers: .unavailable
        }
    }
}

extension ViewerServerError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .unknownViewer: .inputMissing
        case .notWaiting: .unavailable
        }
    }
}

extension ConnectionError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .noPendingOffer: .badInput
        case .portTaken, .addressUnusable, .noAddress, .unreachable, .lost: .unavailable
        case .insecure: .protocol
        }
    }
}

extension ICEServerError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .invalidURL, .missingCredentials, .unusableCredentials: .usage
        case .unresolvable, .unanswered: .unavailable
        }
    }
}

extension AudioFileError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .cannotOpen, .cannotRead: .inputOutput
        case .notWAVE, .unreadable, .unsuitableFormat: .badInput
        }
    }
}

extension MediaFileError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .cannotWrite: .inputOutput
        case .cannotOpen, .alreadyExists, .unsuitablePicture, .unsuitableVideo, .tooManyTracks, .noPicture:
            .cannotCreate
        }
    }
}

extension BroadcastError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .listen, .network: .unavailable
        case .auth: .notPermitted
        case .internal: .internalError
        }
    }
}

extension CaptureError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .invalidFrameRate, .invalidPatternSize, .inaudibleFrequency, .ambiguousWindow, .unsharableWindow,
            .unsharableSize, .unrepeatableFile, .monitorIsNotMicrophone, .portalUnavailable(.kindNotOffered),
            .torchUnavailable:
            .usage
        // A device or window that appears later exists when a service restarts.
        case .unknownOutput, .regionOutsideScreen, .unknownSoundDevice, .unknownWindow, .unknownCamera: .unavailable
        case .shareDeclined, .camerasDeclined: .notPermitted
        case .fileUnavailable(_, let number) where number == ENOENT: .inputMissing
        case .fileUnavailable(_, let number) where number == EACCES: .notPermitted
        case .fileUnavailable: .inputOutput
        case .invalidY4M, .unsupportedPixels, .unreadablePicture: .badInput
        case .unusableSoundFile(let error): error.status
        case .displayUnavailable, .displayLost, .requestRefused, .systemRefused, .soundServerUnavailable,
            .soundServerLost, .soundDeviceLost, .windowClosed, .portalUnavailable, .screenCastLost, .screenCastEnded,
            .camerasUnavailable, .cameraLost:
            .unavailable
        }
    }
}
