// What a program needs for a share, a viewer, a source or a sink of its own, and a room. Of the modules beneath, only what
// is named in these is public: all else is the package's own.

@_exported public import RTCShareAudioCoding
@_exported public import RTCShareCapture
@_exported public import RTCShareCaptureBroadcast
@_exported public import RTCShareContentShare
@_exported public import RTCShareICE
@_exported public import RTCShareMedia
@_exported public import RTCSharePeerConnection
@_exported public import RTCShareSDP
@_exported public import RTCShareStreams
@_exported public import RTCShareTransport
@_exported public import RTCShareVideoCoding

// Of the wire's formats, what a configuration is written in.
@_exported public import struct RTCShareWireFormat.DataRate
@_exported public import enum RTCShareWireFormat.IPAddress
@_exported public import struct RTCShareWireFormat.TransportAddress
