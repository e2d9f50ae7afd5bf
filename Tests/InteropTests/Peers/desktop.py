#!/usr/bin/env python3
"""The programs of a desktop as a test tells them to be, on the session bus: a notification daemon, a screen saver, and a portal
with Registry, Inhibit and GlobalShortcuts.

The arguments name the services that are there: notifications, screensaver, portal, inhibit, shortcuts. A test calls these methods
of the interface test.Desktop at /test: Set with what differs from here on, Asked for the calls up to now, Shown for the present
notifications, Press for a button, Dismiss for a closed notification, Activate for a shortcut, and Restart for other programs with these names.
"""

import os
import sys

from gi.repository import Gio, GLib

NOTIFICATIONS = "org.freedesktop.Notifications"
SAVER = "org.freedesktop.ScreenSaver"
PORTAL = "org.freedesktop.portal.Desktop"
PORTAL_PATH = "/org/freedesktop/portal/desktop"
REQUEST = "org.freedesktop.portal.Request"
INHIBIT = "org.freedesktop.portal.Inhibit"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REGISTRY = "org.freedesktop.host.portal.Registry"


def method(name, inputs="", outputs=""):
    arguments = [("in", kind) for kind in inputs.split()] + [("out", kind) for kind in outputs.split()]
    text = "".join("<arg type='%s' direction='%s'/>" % (kind, direction) for direction, kind in arguments)
    return "<method name='%s'>%s</method>" % (name, text)


def interface(name, *methods):
    text = "<node><interface name='%s'>%s</interface></node>" % (name, "".join(methods))
    return Gio.DBusNodeInfo.new_for_xml(text).interfaces[0]


INTERFACES = {
    "notifications": [
        (
            "/org/freedesktop/Notifications",
            interface(
                NOTIFICATIONS,
                method("GetCapabilities", "", "as"),
                method("Notify", "s u s s s as a{sv} i", "u"),
                method("CloseNotification", "u"),
            ),
        )
    ],
    "screensaver": [
        ("/org/freedesktop/ScreenSaver", interface(SAVER, method("Inhibit", "s s", "u"), method("UnInhibit", "u")))
    ],
    "portal": [(PORTAL_PATH, interface(REGISTRY, method("Register", "s a{sv}")))],
    "inhibit": [(PORTAL_PATH, interface(INHIBIT, method("Inhibit", "s u a{sv}", "o")))],
    "shortcuts": [
        (
            PORTAL_PATH,
            interface(
                SHORTCUTS,
                method("CreateSession", "a{sv}", "o"),
                method("BindShortcuts", "o a(sa{sv}) s a{sv}", "o"),
            ),
        )
    ],
}
NAMES = {"notifications": NOTIFICATIONS, "screensaver": SAVER, "portal": PORTAL}
CONTROL = interface(
    "test.Desktop",
    method("Set", "a{sv}"),
    method("Asked", "", "as"),
    method("Shown", "", "as"),
    method("Sender", "", "s"),
    method("Press", "s s"),
    method("Dismiss", "s"),
    method("Activate", "s"),
    method("Restart"),
)


class Desktop:
    def __init__(self, bus, services):
        self.bus = bus
        # The methods that are rejected, and those that are done without an answer.
        self.settings = {"capabilities": "actions body body-markup", "silent": False, "rejected": "", "late": ""}
        self.asked = []
        # The notifications by their numbers, and the number of the last one.
        self.shown = {}
        self.count = 0
        self.sender = ""
        self.session = ""
        self.seen = set()
        # The objects that a caller can close.
        self.handles = {}
        bus.register_object("/test", CONTROL, self.control, None, None)
        for service in services:
            for path, described in INTERFACES[service]:
                bus.register_object(path, described, self.call, None, None)
        for service in services:
            if service in NAMES:
                Gio.bus_own_name_on_connection(bus, NAMES[service], Gio.BusNameOwnerFlags.NONE, None, None)

    def emit(self, path, name, signal, kinds, values, to=None):
        self.bus.emit_signal(to, path, name, signal, GLib.Variant(kinds, values))

    def number(self, summary):
        return next(number for number, shown in self.shown.items() if shown["summary"] == summary)

    def control(self, bus, sender, path, name, method, arguments, invocation):
        values = arguments.unpack()
        answer = None
        if method == "Set":
            self.settings.update(values[0])
        if method == "Asked":
            answer = GLib.Variant("(as)", (self.asked,))
            self.asked = []
        if method == "Shown":
            texts = ["|".join([one["summary"], one["body"]] + one["buttons"]) for one in self.shown.values()]
            answer = GLib.Variant("(as)", (texts,))
        if method == "Sender":
            answer = GLib.Variant("(s)", (self.sender,))
        if method == "Press":
            number = self.number(values[0])
            self.emit("/org/freedesktop/Notifications", NOTIFICATIONS, "ActionInvoked", "(us)", (number, values[1]))
            if not self.shown[number]["resident"]:
                self.dismiss(number)
        if method == "Dismiss":
            self.dismiss(self.number(values[0]))
        if method == "Activate":
            shortcut = (self.session, values[0], 1, {})
            self.emit(PORTAL_PATH, SHORTCUTS, "Activated", "(osta{sv})", shortcut)
        if method == "Restart":
            # Its connection is closed, and it gets another unique name.
            GLib.timeout_add(50, os.execv, sys.executable, [sys.executable] + sys.argv)
        invocation.return_value(answer)

    def dismiss(self, number):
        del self.shown[number]
        self.emit("/org/freedesktop/Notifications", NOTIFICATIONS, "NotificationClosed", "(uu)", (number, 2))

    def sees(self, sender):
        """Whether it can identify the caller, as portals do, or has before."""
        if sender not in self.seen:
            call = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
            asked = self.bus.call_sync(
                *call, "GetConnectionUnixProcessID", GLib.Variant("(s)", (sender,)), None, 0, -1, None
            )
            try:
                os.close(os.open("/proc/%d/root" % asked.unpack()[0], os.O_PATH))
            except OSError:
                return False
            self.seen.add(sender)
        return True

    def call(self, bus, sender, path, name, method, arguments, invocation):
        values = arguments.unpack()
        if name.startswith("org.freedesktop.portal") or name == REGISTRY:
            if not self.sees(sender):
                self.asked.append("%s unidentified" % method)
                error = "org.freedesktop.portal.Error.NotAllowed"
                return invocation.return_dbus_error(error, "Unable to open its root")
        if self.settings["silent"]:
            self.asked.append("%s unanswered" % method)
            return None
        self.sender = sender
        if method in self.settings["rejected"].split():
            self.asked.append("%s rejected" % method)
            return invocation.return_dbus_error("org.freedesktop.Notifications.Error.ExcessNotificationGeneration", "")
        answer = getattr(self, method)(sender, *values)
        if method not in self.settings["late"].split():
            invocation.return_value(answer)

    def GetCapabilities(self, sender):
        return GLib.Variant("(as)", (self.settings["capabilities"].split(),))

    def Notify(self, sender, program, replaced, icon, summary, body, actions, hints, expiry):
        assert (program, icon, hints["desktop-entry"]) == ("rtcshare", "rtcshare", "io.github.rtcshare")
        number = replaced if replaced in self.shown else 0
        if not number:
            self.count += 1
            number = self.count
        self.shown[number] = {
            "summary": summary,
            "body": body,
            "buttons": ["%s=%s" % pair for pair in zip(actions[::2], actions[1::2])],
            "resident": hints.get("resident", False),
        }
        self.asked.append("Notify %s urgency=%d expiry=%d" % (summary, hints["urgency"], expiry))
        return GLib.Variant("(u)", (number,))

    def CloseNotification(self, sender, number):
        if number in self.shown:
            self.dismiss(number)

    def Inhibit(self, sender, *values):
        if len(values) == 2:
            self.asked.append("ScreenSaver.Inhibit %s" % values[0])
            return GLib.Variant("(u)", (77,))
        handle = self.handle(sender, values[2])
        self.asked.append("Inhibit %d" % values[1])
        self.handles[handle] = self.bus.register_object(
            handle, interface(REQUEST, method("Close")), self.close, None, None
        )
        return GLib.Variant("(o)", (handle,))

    def UnInhibit(self, sender, cookie):
        self.asked.append("UnInhibit %d" % cookie)

    def close(self, bus, sender, path, name, method, arguments, invocation):
        self.asked.append("Close")
        bus.unregister_object(self.handles.pop(path))
        invocation.return_value(None)

    def Register(self, sender, application, options):
        self.asked.append("Register %s" % application)

    def handle(self, sender, options):
        return "%s/request/%s/%s" % (PORTAL_PATH, sender[1:].replace(".", "_"), options["handle_token"])

    def CreateSession(self, sender, options):
        token = options["session_handle_token"]
        self.session = "%s/session/%s/%s" % (PORTAL_PATH, sender[1:].replace(".", "_"), token)
        self.asked.append("CreateSession")
        request = self.handle(sender, options)
        results = {"session_handle": GLib.Variant("s", self.session)}
        # Some answer before the call has returned.
        self.emit(request, REQUEST, "Response", "(ua{sv})", (0, results), to=sender)
        return GLib.Variant("(o)", (request,))

    def BindShortcuts(self, sender, session, shortcuts, window, options):
        assert session == self.session
        self.asked.append("BindShortcuts %s" % " ".join(name for name, facts in shortcuts))
        return GLib.Variant("(o)", (self.handle(sender, options),))


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    desktop = Desktop(bus, sys.argv[1:])
    Gio.bus_own_name_on_connection(bus, "test.Desktop", Gio.BusNameOwnerFlags.NONE, None, None)
    assert desktop
    GLib.MainLoop().run()


main()
