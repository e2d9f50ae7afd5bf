#!/usr/bin/env python3
"""Talks to a room of Janus' VideoRoom by its HTTP API, as nobody's library does.

    janus_room.py URL ask '{"request": …}'
        asks the plugin, and prints what it says
    janus_room.py URL subscribe ROOM DISPLAY FOLDER [PIN [LAYER]]
        subscribes to a publisher, and to this layer of its video, 0 for the lowest: writes FOLDER/offer.sdp, waits for
        FOLDER/answer.sdp, and keeps the session until it is ended

JANUS_SECRET is the secret of the server's API.
"""

import json
import os
import pathlib
import sys
import time
import urllib.parse
import urllib.request

SECRET = os.environ.get("JANUS_SECRET")
# Proxies of this machine's user are none of the test's.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def post(url, message):
    message = {"transaction": f"{time.time()}", **({"apisecret": SECRET} if SECRET else {}), **message}
    request = urllib.request.Request(url, json.dumps(message).encode(), {"Content-Type": "application/json"})
    with OPENER.open(request, timeout=20) as response:
        answer = json.load(response)
    if answer["janus"] == "error":
        sys.exit(f"{answer['error']}")
    return answer


def poll(session):
    query = f"?apisecret={urllib.parse.quote(SECRET)}" if SECRET else ""
    with OPENER.open(session + query, timeout=60) as response:
        return json.load(response)


def attach(url):
    session = f"{url}/{post(url, {'janus': 'create'})['data']['id']}"
    handle = post(session, {"janus": "attach", "plugin": "janus.plugin.videoroom"})["data"]["id"]
    return session, f"{session}/{handle}"


def ask(handle, body, jsep=None):
    message = {"janus": "message", "body": body, **({"jsep": jsep} if jsep else {})}
    return post(handle, message)


def event(session):
    while True:
        message = poll(session)
        if message["janus"] == "event":
            return message


def subscribe(url, room, display, folder, pin=None, layer=None):
    session, handle = attach(url)
    listed = ask(handle, {"request": "listparticipants", "room": room})
    people = listed["plugindata"]["data"]["participants"]
    feed = next(person["id"] for person in people if person.get("display") == display and person["publisher"])
    body = {"request": "join", "ptype": "subscriber", "room": room, "streams": [{"feed": feed}]}
    ask(handle, {**body, **({"pin": pin} if pin else {})})
    offer = event(session)["jsep"]["sdp"]
    temporary = folder / "offer.sdp.new"
    temporary.write_text(offer)
    temporary.rename(folder / "offer.sdp")
    answer = folder / "answer.sdp"
    while not answer.exists():
        time.sleep(0.05)
    ask(handle, {"request": "start"}, {"type": "answer", "sdp": answer.read_text(), "trickle": False})
    if layer is not None:
        ask(handle, {"request": "configure", "streams": [{"mid": "0", "substream": int(layer)}]})
    while True:
        poll(session)


def main():
    url, command, *arguments = sys.argv[1:]
    if command == "ask":
        session, handle = attach(url)
        print(json.dumps(ask(handle, json.loads(arguments[0]))["plugindata"]["data"]))
        post(session, {"janus": "destroy"})
    else:
        room, display, folder, *more = arguments
        subscribe(url, int(room), display, pathlib.Path(folder), *more)


main()
