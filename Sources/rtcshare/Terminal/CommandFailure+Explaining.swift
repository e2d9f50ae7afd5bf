internal import Glibc
internal import RTCShareAudioCoding
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCSharePlayback
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareVideoCoding

extension CommandFailure {
    /// The status and the words for an error of the library.
    init(explaining error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as SDPError: self.init(.badInput, error.description)
        case let error as NegotiationError: self.init(.badInput, error.description)
        case let error as AttendeeIDError: self.init(.usage, error.description)
        case let error as ConnectionError: self.init(explaining: error)
        case let error as ICEServerError: self.init(error.status, error.words(naming: \.words))
        case let error as SpecificationError: self.init(error)
        case let error as CaptureError: self.init(error.status, error.words(naming: \.words))
        case let error as CaptureSourceError:
            self.init(error.kind == .systemFailure ? .unavailable : .internalError, error.description)
        case let error as HandoverError: self.init(.badInput, error.description)
        case let error as BroadcastError: self.init(error.status, error.description)
        case let error as AudioFileError: self.init(error.status, error.description)
        case .configuration(let problem) as ContentShareError: self.init(.usage, "this can't be sent: \(problem)")
        case let error as ContentShareError: self.init(.unavailable, error.description)
        case let error as SubgroupError: self.init(.usage, error.description)
        case let error as SharingRoomError: self.init(error.status, error.words)
        case let error as WHEPError: self.init(error.status, error.description)
        case let error as WHIPError:
            self.init(error.status, error.words(namingToken: "its token, by --whip-token-file or RTCSHARE_WHIP_TOKEN"))
        case let error as JanusError: self.init(error.status, error.words(.options))
        case let error as PublicationEnded: self.init(.unavailable, error.description)
        case let error as HTTPClientError: self.init(.unavailable, error.description)
        case let error as ViewerServerError: self.init(.usage, error.description)
        case let error as MediaFileError: self.init(error.status, error.description)
        case let error as VideoWindowError: self.init(.unavailable, error.description)
        default: self.init(.internalError, "\(error)")
        }
    }
}

extension CommandFailure {
    private init(explaining error: ConnectionError) {
        let words = error.words(naming: \.words)
        guard case .unreachable = error else {
            self.init(error.status, words)
            return
        }
        let lines = words.split(separator: "\n", omittingEmptySubsequences: false)
        self.init(error.status, report: lines.map(String.init))
    }
}

extension WHEPError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .url: .usage
        case .token: .badInput
        case .refused(let refusal): refusal.exitStatus
        case .noAnswer: .protocol
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
    /// What is given by options.
    fileprivate static let options = {
        var words = JanusError.Words()
        words.room = "--janus-room"
        words.pin = "the room's pin (--janus-pin-file)"
        words.secret = "its API secret (--janus-secret-file)"
        words.token = "a token (--janus-token-file)"
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
        case .nowhere, .unknownViewer, .notJoined: .usage
        case .ended, .sharingTo, .tooManyViewers: .unavailable
        }
    }

    /// What is wrong, and which command helps.
    fileprivate var words: String {
        switch self {
        case .notJoined(let subgroup):
            "you are not in the subgroup \(subgroup); join it first: rtcshare subgroup join \(subgroup)"
        case .sharingTo(let subgroup):
            "the share goes to the subgroup \(subgroup), which can't be left meanwhile; have it go elsewhere first: "
                + "rtcshare destination main"
        case .ended, .nowhere, .unknownViewer, .tooManyViewers: description
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
        case .cannotWrite, .full: .cannotCreate
        }
    }
}

extension MediaFileError {
    fileprivate var status: CommandFailure.Status {
        switch self {
        case .cannotWrite, .cannotRead: .inputOutput
        case .malformed: .badInput
        case .cannotOpen, .alreadyExists, .unsuitablePicture, .noPicture: .cannotCreate
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
        // What is plugged in or opened later is there when a service starts again.
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
