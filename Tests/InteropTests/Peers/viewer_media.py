"""What the viewers make of the frames and samples that they noted: the entries `videos` and `sounds` of the report.

Each viewer hands over the same raw facts, whoever decoded: the time of each frame and of each flash of the test
pattern, and for sound blocks of about 100 ms. A block is

    at_ms, seconds           of its first sample, and how much sound it holds
    left, right, difference  mean squares of both channels and of their difference, full scale being 1
    levels                   the amplitude of the beep's 1 kHz, one value per 2.5 ms; each is taken through a Hann
                             window of LEVEL_WINDOW such steps that ends with the step, so a lasting tone of another
                             pitch does not drown the beep, and where the level passes half of the beep's height the
                             beep's edge is in the middle of the window
"""

import math

GAP_MS = 200
GAPS_KEPT = 20
ENERGIES_KEPT = 3000  # five minutes
LEVEL_WINDOW = 8
SILENCE_DBFS = -120.0
BEEP_STEPS = 12  # of 2.5 ms at its full height: what a beep of 50 ms leaves of itself after the window
PAIRING_MS = 450
SETTLED_COUNT = 5


def describe_video(raw, until_ms):
    """One entry of `videos`, from {stream, mid, id, frame_times_ms, flashes_ms, sizes, snapshots, events}."""
    times = raw.pop("frame_times_ms")
    first, last = (times[0], times[-1]) if times else (None, None)
    size = raw["sizes"][-1] if raw["sizes"] else {"width": 0, "height": 0}
    gaps = [{"at_ms": a, "gap_ms": round(b - a, 1)} for a, b in zip(times, times[1:]) if b - a > GAP_MS]
    longest = sorted(gaps, key=lambda gap: -gap["gap_ms"])[:GAPS_KEPT]
    span = until_ms - first if times else 0
    return raw | {
        "frames": len(times),
        "fps": round(len(times) * 1000 / span, 2) if span > 500 else 0.0,
        "width": size["width"],
        "height": size["height"],
        "first_frame_ms": first,
        "last_frame_ms": last,
        "gaps": sorted(longest, key=lambda gap: gap["at_ms"]),
    }


def describe_sound(raw, beep_times=None):
    """One entry of `sounds`, from {stream, mid, id, blocks, left_peak_hz, right_peak_hz, events}.

    The beeps are on the clock of the blocks, or of `beep_times`, which gives one time per level.
    """
    blocks = raw.pop("blocks")
    peaks = raw.pop("left_peak_hz"), raw.pop("right_peak_hz")
    heard = [index for index, block in enumerate(blocks) if block["left"] + block["right"] > 1e-10]
    span = blocks[heard[0] : heard[-1] + 1] if heard else []
    left, right, difference = (mean(span, key) for key in ("left", "right", "difference"))
    louder = peaks[0] if left >= right else peaks[1]
    return raw | {
        "first_sound_ms": span[0]["at_ms"] if span else None,
        "seconds": round(sum(block["seconds"] for block in span), 2),
        "rms_dbfs": decibels((left + right) / 2),
        "peak_frequency_hz": louder,
        # A mono stream decoded to two channels has both alike, but for rounding.
        "channels": (2 if difference > (left + right) * 1e-5 else 1) if span else 0,
        "left": {"rms_dbfs": decibels(left), "peak_frequency_hz": peaks[0]},
        "right": {"rms_dbfs": decibels(right), "peak_frequency_hz": peaks[1]},
        "energy_dbfs": [decibels((block["left"] + block["right"]) / 2) for block in span[:ENERGIES_KEPT]],
        "beeps_ms": find_beeps(*levels_and_times(blocks, beep_times)),
    }


def mean(blocks, key):
    seconds = sum(block["seconds"] for block in blocks)
    return sum(block[key] * block["seconds"] for block in blocks) / seconds if seconds else 0.0


def decibels(mean_square):
    return round(max(SILENCE_DBFS, 10 * math.log10(mean_square)), 1) if mean_square > 0 else SILENCE_DBFS


def levels_and_times(blocks, times):
    levels = [level for block in blocks for level in block["levels"]]
    if times is None:
        times = []
        for block in blocks:
            step = block["seconds"] * 1000 / max(1, len(block["levels"]))
            centre = block["at_ms"] + (1 - LEVEL_WINDOW / 2) * step
            times += [centre + index * step for index in range(len(block["levels"]))]
    return levels, times


def find_beeps(levels, times):
    """When each beep began: where its level passed half of its height. A click or a lasting tone is none."""
    ranked = sorted(levels, reverse=True)
    if len(ranked) < 400:
        return []
    height = ranked[BEEP_STEPS]
    # Beeps of 50 ms a second are a twentieth of the time, so most levels are what else is heard, or silence.
    if height < 0.003 or height < 4 * ranked[len(ranked) // 2]:
        return []
    found, began = [], None
    for index in range(1, len(levels)):
        if began is None and levels[index - 1] < height / 2 <= levels[index]:
            share = (height / 2 - levels[index - 1]) / (levels[index] - levels[index - 1])
            began = index, times[index - 1] + share * (times[index] - times[index - 1])
        elif began and levels[index] < height / 2:
            if 12 <= index - began[0] <= 32:
                found.append(round(began[1], 1))
            began = None
    return found


def offsets(beeps_ms, flashes_ms):
    """Sound time less picture time, for each flash with a beep near it."""
    pairs = [(min(beeps_ms, key=lambda beep: abs(beep - flash)), flash) for flash in flashes_ms if beeps_ms]
    return [round(beep - flash, 1) for beep, flash in pairs if abs(beep - flash) < PAIRING_MS]


def median(values):
    ordered = sorted(values)
    if not ordered:
        return None
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else round((ordered[middle - 1] + ordered[middle]) / 2, 1)


def settled(values):
    """The middle one of the last few: at the start a browser still brings sound and picture together."""
    return median(values[-SETTLED_COUNT:])


def compare(report, main_id):
    """Lip sync: each video against the sound of its own stream; the main one's also as the report's own."""
    for video in report["videos"]:
        partners = [sound for sound in report["sounds"] if sound["stream"] == video["stream"] and sound["beeps_ms"]]
        video["av_offsets_ms"] = offsets(partners[0]["beeps_ms"], video["flashes_ms"]) if partners else []
        video["av_offset_median_ms"] = median(video["av_offsets_ms"])
        video["av_offset_settled_ms"] = settled(video["av_offsets_ms"])
        if video["id"] == main_id:
            report["av_offsets_ms"] = video["av_offsets_ms"]
            report["av_offset_median_ms"] = video["av_offset_median_ms"]
            report["av_offset_settled_ms"] = video["av_offset_settled_ms"]
            report["playout_offsets_ms"] = playout_offsets(report["stats"], video, partners or report["sounds"])
            report["playout_offset_median_ms"] = median(report["playout_offsets_ms"])
            report["playout_offset_settled_ms"] = settled(report["playout_offsets_ms"])


def playout_offsets(dumps, video, sounds):
    """The same by getStats' estimatedPlayoutTimestamp: how far the sender's picture is on, less how far its sound is.

    Both are the sender's time of what is being played at that moment. A sound behind the picture is heard late, which
    gives a positive number, as with flash and beep.
    """
    wanted = [sound["mid"] for sound in sounds if sound["stream"] == video["stream"]]
    found = []
    for dump in dumps:
        by_mid = {
            entry.get("mid"): entry.get("estimatedPlayoutTimestamp")
            for entry in dump["stats"]
            if entry.get("type") == "inbound-rtp"
        }
        picture, sound = by_mid.get(video["mid"]), by_mid.get(wanted[0] if wanted else None)
        if picture and sound:
            found.append(round(picture - sound, 1))
    return found
