#!/usr/bin/env python3
"""Plays what a WHEP server shows (draft-ietf-wish-whep), with aiortc; and does what players in the field do differently.

Writes to standard output, once it is over, what happened as JSON:

    offered                   {status, type, location, etag, accept_patch, links}: the response to the offer
    answer, problem           its body, as text; as an object where it is one (RFC 9457)
    pictures, width, height   decoded pictures, and the last one's size
    first_picture_s           seconds from the offer to the first one
    sound_peak                the largest sample, full scale being 1
    patched                   the status of the PATCH, where there was one
    deleted, deleted_again    the status of each DELETE
    error                     why it ended badly, or null
"""

import argparse
import asyncio
import json
import re
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy
from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCIceServer,
    RTCPeerConnection,
    RTCRtpReceiver,
    RTCSessionDescription,
)
from aiortc.codecs import CODECS
from aiortc.mediastreams import MediaStreamError

from aiortc_viewer import offer_loopback_where_nothing_else_is
from viewer_report import turn_servers

CONNECT_TIMEOUT = 20  # seconds
FRAGMENT = "application/trickle-ice-sdpfrag"


def ask(method, url, headers=None, body=None):
    """A response whatever its status; redirections are of no concern here."""
    request = urllib.request.Request(url, method=method, headers=headers or {}, data=body and body.encode())
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.headers, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def offered_servers(url, headers):
    """The TURN servers that the share offers to viewers; aiortc uses the first one."""
    links = ask("OPTIONS", url, headers)[1].get_all("Link")
    return [RTCIceServer(*server) for server in turn_servers(links)]


def number_as_gstreamer():
    """whepsrc's own payload types: Opus 96, VP8 101."""
    CODECS["audio"] = [codec for codec in CODECS["audio"] if codec.name == "opus"]
    CODECS["audio"][0].payloadType = 96
    CODECS["video"] = [codec for codec in CODECS["video"] if codec.name == "VP8"]
    CODECS["video"][0].payloadType = 101


def without_candidates(sdp):
    return re.sub(r"a=(candidate:|end-of-candidates)[^\n]*\n", "", sdp)


def first_section(sdp):
    """The candidates of the first m-line alone, as a fragment (RFC 8840)."""
    section = sdp.split("\r\nm=")[1]
    lines = section.split("\r\n")
    kept = [line for line in lines if line.startswith(("a=mid:", "a=candidate:", "a=end-of-candidates"))]
    credentials = [line for line in lines if line.startswith(("a=ice-ufrag:", "a=ice-pwd:"))]
    return "\r\n".join([*credentials, f"m={lines[0]}", *kept, ""])


def with_credentials_everywhere(sdp):
    """aiortc wants ICE credentials and a fingerprint in rejected sections too, where they mean nothing."""
    sections = sdp.split("\r\nm=")
    needed = r"a=(?:ice-ufrag|ice-pwd|fingerprint|setup):[^\r]*"
    credentials = re.findall(needed, sections[1])
    for index, section in enumerate(sections[1:], 1):
        if re.match(r"\w+ 0 ", section) and not re.search(needed, section):
            sections[index] = "\r\n".join([section.rstrip("\r\n"), *credentials])
    return "\r\nm=".join(sections).rstrip("\r\n") + "\r\n"


class Player:
    def __init__(self, options, report):
        self.options = options
        self.report = report
        self.authorization = {}
        if options.token:
            self.authorization["Authorization"] = options.token if options.bare else f"Bearer {options.token}"
        servers = offered_servers(options.url, self.authorization) if options.use_servers else []
        configuration = RTCConfiguration(iceServers=servers, bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        self.connection = RTCPeerConnection(configuration)
        self.begin = time.monotonic()

    def offer_sections(self):
        for section in self.options.sections.split(","):
            if section == "datachannel":
                self.connection.createDataChannel("events")
                continue
            transceiver = self.connection.addTransceiver(section, direction="recvonly")
            if section == "video" and self.options.codec:
                known = RTCRtpReceiver.getCapabilities("video").codecs
                transceiver.setCodecPreferences([codec for codec in known if codec.name == self.options.codec])

    async def play(self):
        options, report, connection = self.options, self.report, self.connection
        self.offer_sections()
        await connection.setLocalDescription(await connection.createOffer())
        offer = connection.localDescription.sdp
        sent = without_candidates(offer) if options.without_candidates else offer
        headers = {"Content-Type": "application/sdp", **self.authorization}
        status, received, body = await asyncio.to_thread(ask, "POST", options.url, headers, sent)
        report["offered"] = {
            "status": status,
            "type": received.get("Content-Type"),
            "location": received.get("Location"),
            "etag": received.get("ETag"),
            "accept_patch": received.get("Accept-Patch"),
            "links": received.get_all("Link") or [],
        }
        if status != 201:
            if "json" in (received.get("Content-Type") or ""):
                report["problem"] = json.loads(body)
            return
        report["answer"] = body
        resource = urllib.parse.urljoin(options.url, received["Location"])
        watches = []
        try:
            answer = RTCSessionDescription(sdp=with_credentials_everywhere(body), type="answer")
            await connection.setRemoteDescription(answer)
            tracks = [transceiver.receiver.track for transceiver in connection.getTransceivers()]
            watches = [asyncio.create_task(self.watch(track)) for track in tracks]
            if options.patch:
                headers = {"Content-Type": FRAGMENT, **self.authorization}
                if options.patch != "without":
                    headers["If-Match"] = received["ETag"] if options.patch == "etag" else options.patch
                fragment = first_section(offer)
                report["patched"] = (await asyncio.to_thread(ask, "PATCH", resource, headers, fragment))[0]
            await asyncio.wait_for(self.wait_until_enough(), CONNECT_TIMEOUT)
        finally:
            for name in ("deleted", "deleted_again"):
                report[name] = (await asyncio.to_thread(ask, "DELETE", resource, self.authorization))[0]
            for watch in watches:
                watch.cancel()

    async def wait_until_enough(self):
        sections = self.options.sections.split(",")
        while ("video" in sections and self.report["pictures"] < self.options.pictures) or (
            "audio" in sections and self.report["sound_peak"] < 0.01
        ):
            await asyncio.sleep(0.05)

    async def watch(self, track):
        report = self.report
        try:
            while True:
                frame = await track.recv()
                if track.kind == "video":
                    report.setdefault("first_picture_s", time.monotonic() - self.begin)
                    report["pictures"] += 1
                    report["width"], report["height"] = frame.width, frame.height
                else:
                    peak = numpy.abs(frame.to_ndarray().astype(numpy.float64)).max() / 32768
                    report["sound_peak"] = max(report["sound_peak"], float(peak))
        except MediaStreamError:
            return


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--token")
    parser.add_argument("--bare", action="store_true", help="the token without its scheme")
    parser.add_argument("--sections", default="video,audio", help="of video, audio and datachannel, in this order")
    parser.add_argument("--without-candidates", action="store_true")
    parser.add_argument("--patch", help="If-Match of a PATCH after the answer: etag, * or the like, or without")
    parser.add_argument("--use-servers", action="store_true", help="the TURN servers of the share")
    parser.add_argument("--codec", help="the one video codec that is offered")
    parser.add_argument("--gstreamer-numbers", action="store_true")
    parser.add_argument("--pictures", type=int, default=30)
    options = parser.parse_args()
    # Ends with the first picture.
    signal.signal(signal.SIGINT, lambda *_: setattr(options, "pictures", 1))
    if options.gstreamer_numbers:
        number_as_gstreamer()
    report = {"pictures": 0, "sound_peak": 0.0, "error": None}
    player = Player(options, report)
    try:
        await player.play()
    except Exception as error:  # whatever the library raises on an answer belongs in the report
        report["error"] = f"{type(error).__name__}: {error}"
    finally:
        await player.connection.close()
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    offer_loopback_where_nothing_else_is()
    asyncio.run(main())
