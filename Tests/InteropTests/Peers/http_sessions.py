"""Sessions of aiortc behind HTTP, as WHIP (RFC 9725) and WHEP have them: a POST begins one, a DELETE ends it."""

import asyncio
import http.server
import json
import os
import signal
import ssl
import threading

from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection, RTCSessionDescription

SENTENCE = "the door is closed today"
LINKS = [
    '<stun:127.0.0.1:9>; rel="ice-server"',
    '<turn:127.0.0.1:9?transport=udp>; credential-type="password"; credential="a;b,c"; username="u"; rel=ice-server',
]


def tell(entry):
    print(json.dumps(entry), flush=True)


class Sessions:
    """The peer connections, which live on a loop of their own."""

    def __init__(self, prepare, edit=lambda answer: answer):
        self.prepare = prepare
        self.edit = edit
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.connections = {}

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    async def begin(self, offer):
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self.prepare(connection)
        await connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
        await connection.setLocalDescription(await connection.createAnswer())
        key = str(len(self.connections) + 1)
        self.connections[key] = connection
        return key, self.edit(connection.localDescription.sdp)

    async def end(self, key):
        connection = self.connections.pop(key, None)
        if connection:
            await connection.close()
        return connection is not None

    async def end_all(self):
        for key in list(self.connections):
            await self.end(key)


def serve(options, sessions, path, location=None, port=0, patched=204):
    """A server at a port of its own; with a location, one that leads there. Each request is told as a line of JSON."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status, headers=(), body=b""):
            self.send_response(status)
            for name, value in [*headers, ("Content-Length", str(len(body)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def take(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            authorization = self.headers.get("Authorization")
            entry = {"method": self.command, "path": self.path, "port": self.server.server_port}
            tell({**entry, "authorization": authorization})
            if location:
                self.answer(307, [("Location", location)])
                return None
            if options.token and authorization != f"Bearer {options.token}":
                problem = json.dumps({"type": "about:blank", "title": "Unauthorized", "detail": SENTENCE})
                self.answer(401, [("Content-Type", "application/problem+json")], problem.encode())
                return None
            return body

        def do_POST(self):
            body = self.take()
            if body is None:
                return
            if self.path.partition("?")[0] != path:
                self.answer(404)
                return
            key, answer = sessions.run(sessions.begin(body))
            self.answer(201, [
                ("Content-Type", "application/sdp"),
                # Relative to the endpoint, whose last segment it takes the place of (RFC 3986 section 5.3).
                ("Location", f"sessions/{key}?of=alice"),
                ("ETag", '"first"'),
                *[("Link", link) for link in getattr(options, "link", None) or LINKS],
            ], answer.encode())  # fmt: skip

        def key(self):
            return self.path.partition("/sessions/")[2].partition("?")[0]

        def do_PATCH(self):
            if self.take() is not None:
                self.answer(patched if self.key() in sessions.connections else 404)

        def do_DELETE(self):
            if self.take() is not None:
                self.answer(200 if sessions.run(sessions.end(self.key())) else 404)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer((getattr(options, "bind", "127.0.0.1"), port), Handler)
    server.daemon_threads = True
    scheme = "http"
    if getattr(options, "tls", None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{scheme}://{server.server_address[0]}:{server.server_port}{path}"


def wait_for_end(sessions):
    """Waits for a signal, which `block_signals` kept for this; then takes leave of the peers."""
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    sessions.run(sessions.end_all())
    os._exit(0)


def block_signals():
    """Before there are threads, which would take the signals with the action that they had."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
