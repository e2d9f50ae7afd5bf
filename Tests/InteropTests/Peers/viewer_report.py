"""What every viewing peer has in common: its arguments, its files and the numbers it reports.

report.json holds (every `_ms` is Unix time in milliseconds, so the caller can set it beside its own clock):

    viewer, error, errors      who watched; why it ended badly, or null; everything a page or library complained about
    answer_written_ms          when the answer file was complete
    tracks                     [{kind, id, mid, streams}] in the order in which they were announced
    connection_states          [{state, at_ms}], and ice_states alike
    connected_ms, first_frame_ms
    frames, fps, steady_fps    fps over the whole run; steady_fps without its first two seconds
    frames_per_second          frames shown in each second after the first frame
    decoded_fps                frames decoded a second, by getStats, where the viewer counts them there; else null
    width, height              of the last frame
    snapshots                  [{file, asked_s, at_ms, width, height}]
    negotiations               [{offer_ms, answer_ms}] when each offer was taken, the first and later ones
    videos                     one entry per received video track, see below; the main one's as above
    sounds                     one entry per received audio track
    av_clock                   what flashes and beeps are timed by: "playout" (when a browser shows and plays them),
                               "sender reports" (when the sender says that it captured them), "arrival" (no reports)
    av_offsets_ms              time of the beep less time of the flash, once a second, of the main video and the sound
                               of its stream; av_offset_median_ms: the middle one; av_offset_settled_ms: the middle one
                               of the last five, after a browser has brought both together
    playout_offsets_ms         the same by getStats' estimatedPlayoutTimestamp, with playout_offset_median_ms
                               and playout_offset_settled_ms
    stats                      one getStats dump a second, [{at_ms, stats: [...]}]

A track has events besides, [{event, at_ms}]: `track` when an offer announces it, or announces it again, then `mute`,
`unmute` and `ended` as far as the viewer tells. Videos and sounds repeat them, with stream, mid and id.

    videos   frames, fps, width, height, first_frame_ms, last_frame_ms; gaps: the longest pauses over 200 ms between two
             frames [{at_ms, gap_ms}]; sizes: the first and each change [{at_ms, width, height}]; snapshots; flashes_ms:
             first white frame of each flash of the test pattern; av_offsets_ms and the two middle
             ones
    sounds   first_sound_ms; seconds: from the first to the last that is not digital silence; of these rms_dbfs,
             peak_frequency_hz, left and right with the same two, energy_dbfs per 100 ms; channels: 2 where left and
             right differ, 1 where they are alike, 0 for silence; beeps_ms: the onset of each beep of 1 kHz and 50 ms

The flash is a square at the right lower corner, an eighth of the picture's height, white for 100 ms from each whole
second of the sender's clock on; the beep begins with it. A white frame is as late as the frame rate makes it, and Opus
adds 6.5 ms to the sound (libopus's look-ahead): neither is corrected.

A further offer `X-2.sdp`, `X-3.sdp` beside the first, `X.sdp`, is answered when it appears, complete or not at all;
the answers are numbered alike.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time

SETTLING_MS = 2000


def now_ms():
    return time.time() * 1000


def parse_arguments(description, more=None):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--offer", required=True, help="the offer to answer; waited for until it is there")
    parser.add_argument("--answer", required=True, help="where to write the answer; appears complete or not at all")
    parser.add_argument("--out", required=True, help="folder for report.json and frame-N.png")
    parser.add_argument("--duration", type=float, default=10, help="seconds to watch, from the first frame on")
    parser.add_argument(
        "--connect-timeout", type=float, default=60, help="seconds from the answer until the first frame at the latest"
    )
    parser.add_argument(
        "--snapshot-at", default="2.5", help="seconds after the first frame, comma separated; empty for no picture"
    )
    if more:
        more(parser)
    options = parser.parse_args()
    try:
        options.snapshots = sorted(float(part) for part in options.snapshot_at.split(",") if part.strip())
    except ValueError:
        parser.error(f"--snapshot-at takes seconds such as 2.5,5 and not {options.snapshot_at!r}")
    os.makedirs(options.out, exist_ok=True)
    return options


def read_offer(path, timeout=30):
    """The offer, which may still be being written: what does not end a line yet is not complete."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            if text.startswith("v=0") and text.endswith("\n"):
                return text
            reason = "does not begin with v=0 and end with a whole line"
        except FileNotFoundError:
            reason = "is not there"
        if time.monotonic() > deadline:
            raise RuntimeError(f"the offer {path} {reason} after {timeout} s")
        time.sleep(0.05)


def further(path, index):
    """The name of a later offer or answer: `offer.sdp` is followed by `offer-2.sdp`, `offer-3.sdp` and so on."""
    stem, extension = os.path.splitext(path)
    return path if index == 1 else f"{stem}-{index}{extension}"


def further_offer(options, index):
    """A later offer, or None: it appears complete or not at all, so it is there or it is not there yet."""
    try:
        with open(further(options.offer, index), encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write_atomically(path, content):
    """A reader that polls for the file never sees half of it."""
    data = content.encode() if isinstance(content, str) else content
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), prefix=".part-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def ask_for_stereo(answer, offer):
    """The answer, asking for stereo where the offer does (RFC 7587 section 6.1); aiortc decodes to two channels."""
    types = re.findall(r"^a=fmtp:(\d+) .*\bstereo=1", offer, re.MULTILINE)
    lines = []
    for line in answer.splitlines():
        mapped = re.match(r"a=rtpmap:(\d+) opus/", line)
        parameters = re.match(r"a=fmtp:(\d+) ", line)
        if parameters and parameters[1] in types and not re.search(r"\bstereo=", line):
            line += ";stereo=1"
        lines.append(line)
        if mapped and mapped[1] in types and f"a=fmtp:{mapped[1]} " not in answer:
            lines.append(f"a=fmtp:{mapped[1]} stereo=1")
    return "\r\n".join(lines) + "\r\n"


def turn_servers(links):
    """The TURN servers in the Link headers of a share (RFC 9725 section 4.6): URL, user name and password of each."""
    found = [re.search(r'<(turn.*)>.* username="(.*?)".* credential="(.*?)"', link) for link in links or []]
    return [match.groups() for match in found if match]


def streams_by_mid(sdp):
    """The media stream ids of each m-section (RFC 8830), for libraries whose tracks do not carry them."""
    found, mid, streams = {}, None, []

    def close():
        if mid is not None:
            found[mid] = list(dict.fromkeys(streams))

    for line in sdp.splitlines():
        if line.startswith("m="):
            close()
            mid, streams = None, []
        elif line.startswith("a=mid:"):
            mid = line[len("a=mid:"):].strip()
        elif line.startswith("a=msid:"):
            streams.append(line[len("a=msid:"):].split()[0])
    close()
    return found


def empty_report(viewer):
    return {
        "viewer": viewer,
        "error": None,
        "errors": [],
        "answer_written_ms": None,
        "tracks": [],
        "negotiations": [],
        "videos": [],
        "sounds": [],
        "av_clock": None,
        "av_offsets_ms": [],
        "av_offset_median_ms": None,
        "av_offset_settled_ms": None,
        "playout_offsets_ms": [],
        "playout_offset_median_ms": None,
        "playout_offset_settled_ms": None,
        "connection_states": [],
        "ice_states": [],
        "connected_ms": None,
        "first_frame_ms": None,
        "width": 0,
        "height": 0,
        "snapshots": [],
        "stats": [],
    }


def count_frames(report, times_ms, until_ms):
    """Fills in the counts, from the time of each frame that was shown."""
    report["frames"] = len(times_ms)
    report["fps"] = report["steady_fps"] = 0.0
    report["decoded_fps"] = decoded_fps(report["stats"])
    report["frames_per_second"] = []
    if not times_ms:
        return
    first = times_ms[0]
    report["first_frame_ms"] = first
    seconds = max(1, round((until_ms - first) / 1000))
    counts = [0] * seconds
    for at in times_ms:
        counts[min(seconds - 1, max(0, int((at - first) / 1000)))] += 1
    report["frames_per_second"] = counts
    report["fps"] = rate(times_ms, first, until_ms)
    report["steady_fps"] = rate([at for at in times_ms if at >= first + SETTLING_MS], first + SETTLING_MS, until_ms)


def rate(times_ms, begin_ms, end_ms):
    return round(len(times_ms) * 1000 / (end_ms - begin_ms), 2) if end_ms - begin_ms > 500 else 0.0


def decoded_fps(dumps):
    counts = []
    for dump in dumps:
        decoded = [entry.get("framesDecoded", 0) for entry in dump["stats"] if entry.get("type") == "inbound-rtp"]
        if any(decoded):
            counts.append((dump["at_ms"], max(decoded)))
    if len(counts) < 2:
        return None
    (begin_ms, begin), (end_ms, end) = counts[0], counts[-1]
    return round((end - begin) * 1000 / (end_ms - begin_ms), 2) if end_ms - begin_ms > 500 else None


def finish(options, report):
    """Writes the report, says the outcome in a line on stderr and ends the process: 0 if frames were seen."""
    for state in report["connection_states"]:
        if state["state"] == "connected" and report["connected_ms"] is None:
            report["connected_ms"] = state["at_ms"]
    if not report["error"] and not report.get("frames"):
        states = [state["state"] for state in report["connection_states"]]
        report["error"] = f"no frame was shown; connection states: {', '.join(states) or 'none'}"
    write_atomically(os.path.join(options.out, "report.json"), json.dumps(report, indent=1, default=str) + "\n")
    if report["error"]:
        print(f"{report['viewer']}: {report['error']}", file=sys.stderr)
        sys.exit(1)
    streams = ", ".join(stream for track in report["tracks"] for stream in track["streams"])
    print(
        f"{report['viewer']}: {streams}: {report['frames']} frames of {report['width']}x{report['height']},"
        f" {report['fps']} a second, {report['steady_fps']} after two seconds",
        file=sys.stderr,
    )
    sys.exit(0)
