internal import RTCShareLocks
public import RTCShareMedia

/// Mixes any number of sources into one: a microphone and what the machine plays, for instance. 48 kHz, stereo.
///
/// Each input has its volume, and may come, pause and go while the others sound. One that is slower than the others is
/// waited for, up to half a second; one whose blocks are of the future is played from when the first of them comes. The
/// sum may go beyond full scale: it is clipped softly where it is encoded.
public final class AudioMixer: BroadcastingAudioSource {
    private struct State {
        var mix = AudioMix()
        var inputs: [ObjectIdentifier: Input] = [:]
        /// What is to be given out, in order, and whether a thread is at it.
        var outbox: [AudioFrame] = []
        var isSending = false
    }

    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let state: Locked<State>
    /// What time it is. Only here does time enter: the rules have none.
    private let clock: @Sendable () -> Duration

    /// A mixer without inputs.
    public convenience init() {
        self.init { CaptureClock.now }
    }

    init(clock: @escaping @Sendable () -> Duration) {
        self.clock = clock
        // The conformers inside are used under the lock alone.
        state = Locked(State())
    }

    deinit {
        for input in state.withLock({ $0.inputs.values }) { input.source.remove(input) }
    }

    /// Samples a channel, at 48 kHz, that came too late to be mixed in, of all inputs together: where an input turns out to
    /// be slower than was known, and where one is more than half a second behind.
    public var lateSampleCount: Int { state.withLock { $0.mix.lateSampleCount } }

    /// Mixes in what `source` gives from now on, each sample multiplied by `volume`.
    public func add(input source: any AudioSource, volume: Float = 1) {
        let id = ObjectIdentifier(source)
        let input = state.withLock { state -> Input? in
            guard state.inputs[id] == nil else { return nil }
            let input = Input(source: source, mixer: self)
            state.inputs[id] = input
            state.mix.add(id, volume: volume)
            return input
        }
        if let input { source.add(input) }
    }

    /// Mixes in no more of `source`.
    public func remove(input source: any AudioSource) {
        if let input = state.withLock({ $0.inputs.removeValue(forKey: ObjectIdentifier(source)) }) {
            source.remove(input)
            update { $0.remove(ObjectIdentifier(source)) }
        }
    }

    /// Multiplies what `source` gives by `volume` from now on.
    public func setVolume(_ volume: Float, ofInput source: any AudioSource) {
        state.withLock { $0.mix.setVolume(volume, of: ObjectIdentifier(source)) }
    }

    private func insert(_ frame: AudioFrame, of source: any AudioSource) {
        let now = clock()
        update { $0.insert(frame, of: ObjectIdentifier(source), now: now) }
    }

    /// One thread at a time gives out what is complete, in order, with no lock held; the others leave it to that one.
    private func update(_ body: (inout AudioMix) -> [AudioFrame]) {
        let sends = state.withLock { state in
            state.outbox += body(&state.mix)
            defer { state.isSending = true }
            return !state.isSending
        }
        guard sends else { return }
        while let frame = state.withLock({ state -> AudioFrame? in
            if state.outbox.isEmpty {
                state.isSending = false
                return nil
            }
            return state.outbox.removeFirst()
        }) { broadcaster.send(frame) }
    }

    /// Stands between one source and the mixer, which the source does not keep alive.
    private final class Input: AudioSink {
        let source: any AudioSource
        private let mixer: @Sendable () -> AudioMixer?

        init(source: any AudioSource, mixer: AudioMixer) {
            self.source = source
            self.mixer = { [weak mixer] in mixer }
        }

        func receive(_ frame: AudioFrame) {
            mixer()?.insert(frame, of: source)
        }

        func sourceDidEnd(error: (any Error)?) {
            mixer()?.remove(input: source)
        }
    }
}
