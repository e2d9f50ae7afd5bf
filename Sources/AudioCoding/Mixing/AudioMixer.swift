internal import RTCShareLocks
public import RTCShareMedia

/// Mixes any number of sources into one, such as a microphone and the audio of the machine, at 48 kHz in stereo.
///
/// Each input has its volume, and can start, pause and stop at any time. The mixer receives audio from its inputs only
/// while it has sinks itself, so that a microphone is not used while nobody listens. It waits up to half a second for
/// an input that is slower than the others. An input with future timestamps is played from the arrival of its first
/// block. An input that has ended is not waited for until its next block. The sum can exceed full scale: the encoder
/// clips it softly.
public final class AudioMixer: BroadcastingAudioSource {
    private struct State {
        var mix = AudioMix()
        var inputs: [ObjectIdentifier: Input] = [:]
        /// The blocks to pass on, in order. ``isSending`` means that a thread passes them on.
        var outbox: [AudioFrame] = []
        var isSending = false
    }

    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let state: Locked<State>
    /// The clock. Only the mixer reads it, the mix does not.
    private let clock: @Sendable () -> Duration

    /// Creates a mixer without inputs.
    public convenience init() {
        self.init { CaptureClock.now }
    }

    init(clock: @escaping @Sendable () -> Duration) {
        self.clock = clock
        // The conformers inside are used only with the lock held.
        state = Locked(State())
    }

    deinit {
        for input in state.withLock({ $0.inputs.values }) { input.source.remove(input) }
    }

    /// The number of samples per channel, at 48 kHz, that arrived too late to be mixed, of all inputs together: if an
    /// input becomes slower than known, or is more than half a second behind.
    public var lateSampleCount: Int { state.withLock { $0.mix.lateSampleCount } }

    /// Adds an input, whose samples are multiplied by `volume`. The mixer keeps it until ``remove(input:)``, because it can
    /// start again after its end.
    public func add(input source: any AudioSource, volume: Float = 1) {
        let id = ObjectIdentifier(source)
        let input = state.withLock { state -> Input? in
            state.mix.add(id, volume: volume)
            guard state.inputs[id] == nil else { return nil }
            let input = Input(source: source, mixer: self)
            state.inputs[id] = input
            return input
        }
        if let input { setConnected(input) }
    }

    /// Removes an input.
    public func remove(input source: any AudioSource) {
        if let input = state.withLock({ $0.inputs.removeValue(forKey: ObjectIdentifier(source)) }) {
            setConnected(input)
            update { $0.remove(ObjectIdentifier(source)) }
        }
    }

    /// Adds a sink, which receives every later block.
    public func add(_ sink: any AudioSink) {
        broadcaster.add(sink)
        for input in state.withLock({ $0.inputs.values }) { setConnected(input) }
    }

    /// Removes a sink, which receives no later block, except one that another thread is passing to it now.
    public func remove(_ sink: any AudioSink) {
        broadcaster.remove(sink)
        for input in state.withLock({ $0.inputs.values }) { setConnected(input) }
    }

    private func setConnected(_ input: Input) {
        let id = ObjectIdentifier(input.source)
        input.connection.update {
            broadcaster.hasSinks && state.withLock { $0.inputs[id] === input }
        } connect: {
            input.source.add(input)
        } disconnect: {
            input.source.remove(input)
            // Audio that waits is not for the next sink.
            state.withLock { $0.mix.restart(id) }
        }
    }

    /// Sets the volume by which an input's samples are multiplied.
    public func setVolume(_ volume: Float, ofInput source: any AudioSource) {
        state.withLock { $0.mix.setVolume(volume, of: ObjectIdentifier(source)) }
    }

    private func insert(_ frame: AudioFrame, of source: any AudioSource) {
        let now = clock()
        update { $0.insert(frame, of: ObjectIdentifier(source), now: now) }
    }

    /// Updates the mix. One thread at a time passes on complete blocks, in order and without a lock held. Other threads
    /// leave that to it.
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

    /// The sink of one source, which the source does not keep alive through the mixer.
    private final class Input: AudioSink {
        let source: any AudioSource
        let connection = SinkConnection()
        private let mixer: @Sendable () -> AudioMixer?

        init(source: any AudioSource, mixer: AudioMixer) {
            self.source = source
            self.mixer = { [weak mixer] in mixer }
        }

        func receive(_ frame: AudioFrame) {
            mixer()?.insert(frame, of: source)
        }

        func sourceDidEnd(error: (any Error)?) {
            mixer()?.update { $0.end(ObjectIdentifier(source)) }
        }
    }
}
