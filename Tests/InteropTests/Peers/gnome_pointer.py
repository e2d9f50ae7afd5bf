#!/usr/bin/env python3
"""Moves the pointer of a GNOME desktop (mutter) to each place that is named, X,Y, and clicks there with X,Y,click.

With --stay the pointer remains, for so many seconds, at the last one: it goes with this program.
"""

import argparse
import time

from gi.repository import Gio, GLib

NAME = "org.gnome.Mutter.RemoteDesktop"
LEFT_BUTTON = 0x110  # BTN_LEFT of linux/input-event-codes.h


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stay", type=float, default=0)
    parser.add_argument("places", nargs="+")
    options = parser.parse_args()
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)

    def call(path, interface, method, arguments=None):
        return bus.call_sync(NAME, path, interface, method, arguments, None, 0, -1, None)

    session = call("/org/gnome/Mutter/RemoteDesktop", NAME, "CreateSession").unpack()[0]

    def tell(method, arguments=None):
        call(session, f"{NAME}.Session", method, arguments)

    def move(x, y):
        tell("NotifyPointerMotionRelative", GLib.Variant("(dd)", (float(x), float(y))))

    tell("Start")
    for place in options.places:
        x, y, *action = place.split(",")
        move(-10000, -10000)
        move(x, y)
        time.sleep(0.2)
        if action:
            for is_down in (True, False):
                tell("NotifyPointerButton", GLib.Variant("(ib)", (LEFT_BUTTON, is_down)))
                time.sleep(0.1)
            time.sleep(0.3)
    time.sleep(options.stay)
    tell("Stop")


if __name__ == "__main__":
    main()
