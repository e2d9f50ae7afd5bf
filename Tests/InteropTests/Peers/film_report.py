#!/usr/bin/env python3
"""Says what is in a film that rtcshare recorded, as FFmpeg's libraries (PyAV) have it: JSON on standard output.

    film_report.py FILE

    seconds     how long the file's head says that it is
    tracks      [{name, kind, codec, frames, first_ms, last_ms, sizes, flashes_ms, beeps_ms, longest_gap_ms, key_frames_ms}]
                sizes are [width, height] as they change; flashes and beeps are those of the test source; the longest gap is
                between a block and the next, of sound from the end of the one before
    offsets_ms  of each name that has both: time of the beep less time of the flash, once a second
    failures    frames and packets that could not be decoded
"""

import json
import sys

import av
import numpy

from aiortc_tracks import LEVEL_WINDOW, STEP_SAMPLES, WHITE_LUMA, VideoWatch, beep_levels
from viewer_media import find_beeps, offsets


class Picture:
    def __init__(self):
        self.times, self.sizes, self.flashes = [], [], []
        self.was_white = True

    def take(self, frame):
        at_ms = float(frame.pts * frame.time_base * 1000)
        self.times.append(at_ms)
        if not self.sizes or self.sizes[-1] != [frame.width, frame.height]:
            self.sizes.append([frame.width, frame.height])
        is_white = VideoWatch.corner_luma(frame) > WHITE_LUMA
        if is_white and not self.was_white:
            self.flashes.append(at_ms)
        self.was_white = is_white

    def describe(self):
        return {"sizes": self.sizes, "flashes_ms": self.flashes, "beeps_ms": []}


class Sound:
    """A player plays packets one after the other: a sample's time is that of the first and its place."""

    def __init__(self):
        self.times, self.samples = [], []

    def take(self, frame):
        self.times.append(float(frame.pts * frame.time_base * 1000))
        self.samples.append(frame.to_ndarray().T.reshape(-1, 2) if frame.format.is_planar else frame.to_ndarray().reshape(-1, 2))

    def describe(self):
        samples = numpy.concatenate(self.samples) if self.samples else numpy.zeros((0, 2), numpy.float32)
        steps = len(samples) // STEP_SAMPLES
        levels = beep_levels(samples[: steps * STEP_SAMPLES].astype(numpy.float64), steps)
        first = self.times[0] if self.times else 0
        centre = 1 - LEVEL_WINDOW / 2
        times = [first + (index + centre) * STEP_SAMPLES / 48 for index in range(steps)]
        return {"sizes": [], "flashes_ms": [], "beeps_ms": find_beeps(levels, times)}


def longest_gap(packets, is_sound):
    """In milliseconds, from the end of a packet of sound, and from the beginning of a picture."""
    gaps = [
        after[0] - before[0] - (before[1] if is_sound else 0) for before, after in zip(packets, packets[1:])
    ]
    return round(max(gaps, default=0), 1)


def main():
    film = av.open(sys.argv[1])
    watches = {stream.index: Picture() if stream.type == "video" else Sound() for stream in film.streams}
    packets = {stream.index: [] for stream in film.streams}
    keys = {stream.index: [] for stream in film.streams}
    failures = 0
    for packet in film.demux():
        if packet.pts is not None:
            at_ms = float(packet.pts * packet.time_base * 1000)
            packets[packet.stream_index].append((at_ms, float((packet.duration or 0) * packet.time_base * 1000)))
            if packet.is_keyframe:
                keys[packet.stream_index].append(at_ms)
        try:
            for frame in packet.decode():
                watches[packet.stream_index].take(frame)
        except av.error.FFmpegError:
            failures += 1
    tracks = []
    for stream in film.streams:
        found, is_sound = packets[stream.index], stream.type == "audio"
        tracks.append(
            {
                "name": stream.metadata.get("title"),
                "kind": stream.type,
                "codec": stream.codec_context.name,
                "frames": len(found),
                "first_ms": found[0][0] if found else None,
                "last_ms": found[-1][0] if found else None,
                "longest_gap_ms": longest_gap(found, is_sound),
                "key_frames_ms": [] if is_sound else keys[stream.index],
            }
            | watches[stream.index].describe()
        )
    together = {}
    for name in {track["name"] for track in tracks}:
        flashes = [track["flashes_ms"] for track in tracks if track["name"] == name and track["flashes_ms"]]
        beeps = [track["beeps_ms"] for track in tracks if track["name"] == name and track["beeps_ms"]]
        if flashes and beeps:
            together[name] = offsets(beeps[0], flashes[0])
    seconds = film.duration / av.time_base if film.duration else None
    json.dump({"seconds": seconds, "tracks": tracks, "offsets_ms": together, "failures": failures}, sys.stdout)


if __name__ == "__main__":
    main()
