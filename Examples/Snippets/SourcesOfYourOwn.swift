import RTCShare

// The code of the article SourcesOfYourOwn.

func draw(in session: AttendeeSession) async throws {
    // snippet:draw
    let size = PixelSize(width: 640, height: 360)
    let pool = PixelBufferPool()
    let capturer = try PullVideoSource(size: size, framesPerSecond: 30, contentHint: .text) { tick in
        pool.makeBuffer(size: size, format: .bgra) { planes, _ in
            planes[0].initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: tick.number))
        }
    }
    try await session.contentShare.start(capturing: capturer)
    // end
}

func push(to session: AttendeeSession, captured: AsyncStream<VideoFrame>) async throws {
    // snippet:push
    let source = PushVideoSource(isScreencast: true)
    source.adaptOutputFormat(width: 1280, height: 720, fps: 24)
    try await session.contentShare.start(source: source)
    for await frame in captured { source.capture(frame) }
    source.end()
    // end
}

func wrap(
    memory: UnsafeRawBufferPointer, size: PixelSize, time: Duration, changed: [PixelRectangle],
    to source: PushVideoSource, release: @escaping @Sendable () -> Void
) throws {
    // snippet:wrap
    let buffer = try ExternalPixelBuffer(
        size: size, format: .bgra, planes: [memory], strides: [size.width * 4], release: release)
    source.capture(VideoFrame(buffer: buffer, timestamp: time, damage: changed))
    // end
}

func mix(in session: AttendeeSession, source: some VideoSource) async throws {
    // snippet:mix
    let system: PulseSource = try .systemAudio()
    let microphone: PulseSource = try .microphone()
    let mixer = AudioMixer()
    mixer.add(input: system)
    mixer.add(input: microphone, volume: 0.5)
    try await session.contentShare.start(source: source, audio: mixer)
    try system.start()
    try microphone.start()
    // end
}

func sound(in session: AttendeeSession, source: some VideoSource, samples: [Float], time: Duration) async throws {
    // snippet:sound
    let sound = PushAudioSource()
    try await session.contentShare.start(source: source, audio: sound)
    sound.capture(AudioFrame(samples: samples, channels: 2, sampleRate: 48_000, timestamp: time))
    // end
}

func share(_ source: some VideoSource, _ sound: some AudioSource, in session: AttendeeSession) async throws {
    // snippet:stream
    let factory = MediaFactory()
    let stream = try factory.mediaStream(withID: "screen")
    stream.add(try factory.videoTrack(with: source, id: "screen-picture"))
    stream.add(try factory.audioTrack(with: sound, id: "screen-sound"))
    try await session.contentShare.start(stream: stream)
    // end
}
