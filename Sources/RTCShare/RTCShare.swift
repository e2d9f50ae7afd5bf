// These modules have everything that a program needs for a share, a viewer, its own source or sink, and a room. Of the
// modules below them, only types that these use are public. All others are internal to the package.

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

// Of the wire format, only the types of configurations are exported.
@_exported public import struct RTCShareWireFormat.DataRate
@_exported public import enum RTCShareWireFormat.IPAddress
@_exported public import struct RTCShareWireFormat.TransportAddress
