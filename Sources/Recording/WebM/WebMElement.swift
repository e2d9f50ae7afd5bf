/// The ids of the WebM elements that this module writes (RFC 9559 §5).
enum WebMElement: UInt32 {
    case ebml = 0x1A45_DFA3
    case ebmlVersion = 0x4286
    case ebmlReadVersion = 0x42F7
    case ebmlMaximumIDLength = 0x42F2
    case ebmlMaximumSizeLength = 0x42F3
    case documentType = 0x4282
    case documentTypeVersion = 0x4287
    case documentTypeReadVersion = 0x4285
    case void = 0xEC

    case segment = 0x1853_8067
    case seekHead = 0x114D_9B74
    case seek = 0x4DBB
    case seekID = 0x53AB
    case seekPosition = 0x53AC

    case info = 0x1549_A966
    case timestampScale = 0x2A_D7B1
    case duration = 0x4489
    case dateUTC = 0x4461
    case muxingApplication = 0x4D80
    case writingApplication = 0x5741

    case tracks = 0x1654_AE6B
    case trackEntry = 0xAE
    case trackNumber = 0xD7
    case trackUID = 0x73C5
    case trackType = 0x83
    case flagDefault = 0x88
    case flagLacing = 0x9C
    case name = 0x536E
    case language = 0x22_B59C
    case codecID = 0x86
    case codecPrivate = 0x63A2
    case codecDelay = 0x56AA
    case seekPreRoll = 0x56BB
    case video = 0xE0
    case pixelWidth = 0xB0
    case pixelHeight = 0xBA
    case colour = 0x55B0
    case matrixCoefficients = 0x55B1
    case range = 0x55B9
    case transferCharacteristics = 0x55BA
    case primaries = 0x55BB
    case projection = 0x7670
    case projectionType = 0x7671
    case projectionPoseRoll = 0x7675
    case audio = 0xE1
    case samplingFrequency = 0xB5
    case channels = 0x9F

    case cues = 0x1C53_BB6B
    case cuePoint = 0xBB
    case cueTime = 0xB3
    case cueTrackPositions = 0xB7
    case cueTrack = 0xF7
    case cueClusterPosition = 0xF1

    case cluster = 0x1F43_B675
    case timestamp = 0xE7
    case simpleBlock = 0xA3

    /// The id as it is in the file.
    var bytes: [UInt8] { EBML.bigEndian(UInt64(rawValue)) }
}
