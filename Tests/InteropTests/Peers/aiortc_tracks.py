"""What the aiortc viewer notes of each track, and the sender's clock behind it."""

import numpy

from viewer_media import LEVEL_WINDOW, describe_sound, describe_video
from viewer_report import now_ms

WHITE_LUMA = 180
SPECTRUM_SAMPLES = 16384
STEP_SAMPLES = 120  # 2.5 ms at 48 kHz
BLOCK_STEPS = 40
FILLED_SECONDS = 60  # a longer hole in a sound's timestamps is not filled with silence


class SenderClock:
    """Relates a track's RTP timestamps to the sender's clock by its sender reports (RFC 3550 section 6.4.1).

    aiortc keeps the reports to itself and numbers frames from the first one on; both are looked up inside it. Where a
    later version has them elsewhere the clock stays unknown, and the times of arrival have to do.
    """

    UNIX_EPOCH = 2208988800  # seconds after 1900

    def __init__(self, receiver):
        self.receiver = receiver
        self.reports = []
        usual = receiver._handle_rtcp_packet

        async def handle(packet):
            info = getattr(packet, "sender_info", None)
            if info:
                self.reports.append((info.rtp_timestamp, info.ntp_timestamp / 2**32 - self.UNIX_EPOCH))
            await usual(packet)

        receiver._handle_rtcp_packet = handle

    @property
    def origin(self):
        mapper = getattr(self.receiver, "_RTCRtpReceiver__timestamp_mapper", None)
        return getattr(mapper, "_origin", None)

    @property
    def is_known(self):
        return bool(self.reports) and self.origin is not None

    def unix_ms(self, pts, rate):
        """When the sender captured what has this timestamp, by the nearest report."""
        distances = [
            (((pts + self.origin - rtp + 2**31) % 2**32 - 2**31) / rate, seconds) for rtp, seconds in self.reports
        ]
        distance, seconds = min(distances, key=lambda pair: abs(pair[0]))
        return (seconds + distance) * 1000


class Watch:
    def __init__(self, track, clock, entry):
        self.track = track
        self.clock = clock
        self.stream = entry["streams"][0] if entry["streams"] else None
        self.mid = entry["mid"]
        self.events = entry["events"]

    def note_end(self):
        self.events.append({"event": "ended", "at_ms": now_ms()})

    def facts(self):
        return {"stream": self.stream, "mid": self.mid, "id": self.track.id, "events": self.events}


class VideoWatch(Watch):
    def __init__(self, track, clock, entry):
        super().__init__(track, clock, entry)
        self.last = None
        self.times = []
        self.snapshots = []
        self.sizes = []
        self.flashes = []  # (pts, arrival) of the first white frame of each
        self.was_white = True  # a flash that is under way at the first frame has no beginning

    @property
    def was_received(self):
        return bool(self.times)

    def take(self, frame, at_ms):
        self.last = frame
        self.times.append(at_ms)
        size = {"width": frame.width, "height": frame.height}
        if not self.sizes or any(self.sizes[-1][key] != value for key, value in size.items()):
            self.sizes.append({"at_ms": at_ms} | size)
        is_white = self.corner_luma(frame) > WHITE_LUMA
        if is_white and not self.was_white:
            self.flashes.append((frame.pts, at_ms))
        self.was_white = is_white

    @staticmethod
    def corner_luma(frame):
        """Of the middle of the square of an eighth of the height at the right lower corner: its edges are blurred."""
        plane = frame.planes[0]
        rows = numpy.frombuffer(plane, numpy.uint8).reshape(-1, plane.line_size)
        quarter = max(1, frame.height // 32)
        bottom, right = frame.height - quarter, frame.width - quarter
        return rows[bottom - 2 * quarter : bottom, right - 2 * quarter : right].mean()

    def describe(self, until_ms, by_sender):
        flashes = [self.clock.unix_ms(pts, 90000) if by_sender else at for pts, at in self.flashes]
        raw = {"frame_times_ms": self.times, "flashes_ms": [round(at, 1) for at in flashes]}
        return describe_video(self.facts() | raw | {"sizes": self.sizes, "snapshots": self.snapshots}, until_ms)


class SoundWatch(Watch):
    """The decoded samples, two channels of 48 kHz, and for each frame its timestamp and arrival."""

    def __init__(self, track, clock, entry):
        super().__init__(track, clock, entry)
        self.frames = []  # (pts, arrival, samples)

    @property
    def was_received(self):
        return bool(self.frames)

    def take(self, frame, at_ms):
        self.frames.append((frame.pts, at_ms, frame.to_ndarray().reshape(-1, 2)))

    def timeline(self):
        """All samples in their places from the first frame on, and the (position, pts, arrival) of each frame."""
        parts, places, position = [], [], 0
        expected = self.frames[0][0] if self.frames else 0
        for pts, at_ms, samples in self.frames:
            hole = pts - expected
            if 0 < hole <= FILLED_SECONDS * 48000:
                parts.append(numpy.zeros((hole, 2), numpy.int16))
                position += hole
            places.append((position, pts, at_ms))
            parts.append(samples)
            position += len(samples)
            expected = pts + len(samples)
        joined = numpy.concatenate(parts) if parts else numpy.zeros((0, 2), numpy.int16)
        return joined.astype(numpy.float32) / 32768, places

    def describe(self, until_ms, by_sender):
        samples, places = self.timeline()
        steps = len(samples) // STEP_SAMPLES // BLOCK_STEPS * BLOCK_STEPS
        samples = samples[: steps * STEP_SAMPLES]
        levels = beep_levels(samples, steps)
        positions = numpy.array([place[0] for place in places])

        def place(position):
            position_of_frame, pts, at_ms = places[max(0, numpy.searchsorted(positions, position, "right") - 1)]
            return pts + position - position_of_frame, at_ms + (position - position_of_frame) / 48

        def time_of(position, on_sender_clock):
            pts, at_ms = place(position)
            return self.clock.unix_ms(pts, 48000) if on_sender_clock else at_ms

        blocks = []
        size = STEP_SAMPLES * BLOCK_STEPS
        for index in range(steps // BLOCK_STEPS):
            part = samples[index * size : (index + 1) * size].astype(numpy.float64)
            left, right = (part**2).mean(axis=0)
            blocks.append(
                {
                    "at_ms": time_of(index * size, False),
                    "seconds": size / 48000,
                    "left": left,
                    "right": right,
                    "difference": ((part[:, 0] - part[:, 1]) ** 2).mean(),
                    "levels": levels[index * BLOCK_STEPS : (index + 1) * BLOCK_STEPS],
                }
            )
        centres = [(index + 1) * STEP_SAMPLES - LEVEL_WINDOW * STEP_SAMPLES // 2 for index in range(steps)]
        times = [time_of(max(0, centre), by_sender) for centre in centres]
        peaks = [peak_frequency(samples[:, channel]) for channel in (0, 1)]
        return describe_sound(
            self.facts() | {"blocks": blocks, "left_peak_hz": peaks[0], "right_peak_hz": peaks[1]}, times
        )


def beep_levels(samples, steps):
    """The amplitude of 1 kHz as viewer_media asks for it, a value per step."""
    if not steps:
        return []
    turning = numpy.exp(-2j * numpy.pi * 1000 / 48000 * numpy.arange(len(samples)))
    sums = (samples.mean(axis=1) * turning).reshape(steps, STEP_SAMPLES).sum(axis=1)
    window = 1 - numpy.cos(2 * numpy.pi * (numpy.arange(LEVEL_WINDOW) + 0.5) / LEVEL_WINDOW)
    amplitude = 2 * numpy.abs(numpy.convolve(sums, window)[:steps]) / (LEVEL_WINDOW * STEP_SAMPLES)
    return [round(float(value), 5) for value in amplitude]


def peak_frequency(channel):
    """The loudest pitch above 50 Hz, between the bins by a parabola through the decibels; None for silence."""
    pieces = [
        channel[begin : begin + SPECTRUM_SAMPLES]
        for begin in range(0, len(channel) - SPECTRUM_SAMPLES + 1, SPECTRUM_SAMPLES)
    ]
    if not pieces:
        return None
    power = sum(numpy.abs(numpy.fft.rfft(piece * numpy.blackman(SPECTRUM_SAMPLES))) ** 2 for piece in pieces)
    width = 48000 / SPECTRUM_SAMPLES
    lowest = int(numpy.ceil(50 / width))
    best = lowest + int(numpy.argmax(power[lowest:-1]))
    if power[best] < 1e-6:
        return None
    a, b, c = numpy.log(power[best - 1 : best + 2] + 1e-12)
    share = (a - c) / (2 * (a + c - 2 * b)) if a + c < 2 * b else 0
    return round(float((best + share) * width), 1)
