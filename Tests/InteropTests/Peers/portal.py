#!/usr/bin/env python3
"""A desktop's portal that answers as a test tells it to: ScreenCast and Camera, on the session bus, without a person.

A test calls Set of the interface test.Portal at /test, with what is to differ from here on; Asked gives what was asked since it
was last called; Close ends a session as a desktop does, and Leave this program.
"""

import os
import socket

from gi.repository import Gio, GLib

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"
SCREENS = """
  <interface name='org.freedesktop.portal.ScreenCast'>
    <method name='CreateSession'><arg type='a{sv}' direction='in'/><arg type='o' direction='out'/></method>
    <method name='SelectSources'>
      <arg type='o' direction='in'/><arg type='a{sv}' direction='in'/><arg type='o' direction='out'/>
    </method>
    <method name='Start'>
      <arg type='o' direction='in'/><arg type='s' direction='in'/><arg type='a{sv}' direction='in'/>
      <arg type='o' direction='out'/>
    </method>
    <method name='OpenPipeWireRemote'>
      <arg type='o' direction='in'/><arg type='a{sv}' direction='in'/><arg type='h' direction='out'/>
    </method>
    <property name='AvailableSourceTypes' type='u' access='read'/>
    <property name='AvailableCursorModes' type='u' access='read'/>
    <property name='version' type='u' access='read'/>
  </interface>"""
CAMERA = """
  <interface name='org.freedesktop.portal.Camera'>
    <method name='AccessCamera'><arg type='a{sv}' direction='in'/><arg type='o' direction='out'/></method>
    <method name='OpenPipeWireRemote'><arg type='a{sv}' direction='in'/><arg type='h' direction='out'/></method>
    <property name='IsCameraPresent' type='b' access='read'/>
    <property name='version' type='u' access='read'/>
  </interface>"""
CONTROL = """
<node>
  <interface name='test.Portal'>
    <method name='Set'><arg type='a{sv}' direction='in'/></method>
    <method name='Asked'><arg type='as' direction='out'/></method>
    <method name='Close'/>
    <method name='Leave'/>
  </interface>
</node>"""
SESSION_OBJECT = "<node><interface name='%s'><method name='Close'/></interface></node>" % SESSION


class Portal:
    def __init__(self, bus):
        self.bus = bus
        self.loop = GLib.MainLoop()
        # What a request is answered with, by its name; without an entry, 0.
        self.settings = {"types": 3, "modes": 7, "version": 4, "node": 0, "token": "token"}
        self.asked = []
        self.seen = set()
        self.session = None
        control = Gio.DBusNodeInfo.new_for_xml(CONTROL).interfaces[0]
        bus.register_object("/test", control, self.control, None, None)
        for interface in Gio.DBusNodeInfo.new_for_xml("<node>" + SCREENS + CAMERA + "</node>").interfaces:
            bus.register_object(PATH, interface, self.call, self.property, None)

    def control(self, bus, sender, path, interface, method, arguments, invocation):
        if method == "Set":
            self.settings.update(arguments.unpack()[0])
        if method == "Close":
            self.bus.emit_signal(None, self.session, SESSION, "Closed", GLib.Variant("(a{sv})", ({},)))
        if method == "Leave":
            self.loop.quit()
        answer = None
        if method == "Asked":
            answer = GLib.Variant("(as)", (self.asked,))
            self.asked = []
        invocation.return_value(answer)

    def property(self, bus, sender, path, interface, name):
        if name == "IsCameraPresent":
            return GLib.Variant("b", self.settings.get("camera", True))
        keys = {"AvailableSourceTypes": "types", "AvailableCursorModes": "modes", "version": "version"}
        return GLib.Variant("u", self.settings[keys[name]])

    def call(self, bus, sender, path, interface, method, arguments, invocation):
        values = arguments.unpack()
        options = values[-1]
        shown = sorted((key, value) for key, value in options.items() if "token" not in key or key == "restore_token")
        self.asked.append(" ".join([method] + ["%s=%s" % pair for pair in shown]))
        if method == "OpenPipeWireRemote":
            return self.open_remote(invocation)
        if not self.sees(sender):
            error = "org.freedesktop.portal.Error.NotAllowed"
            return invocation.return_dbus_error(error, "Portal operation not allowed: Unable to open its root")
        if "restore_token" in options and options["restore_token"] != self.settings["token"]:
            error = "org.freedesktop.portal.Error.InvalidArgument"
            return invocation.return_dbus_error(error, "Invalid restore token")
        request = "%s/request/%s/%s" % (PATH, sender[1:].replace(".", "_"), options["handle_token"])
        results = {}
        if method == "CreateSession":
            self.session = "%s/session/%s/%s" % (
                PATH,
                sender[1:].replace(".", "_"),
                options["session_handle_token"],
            )
            bus.register_object(
                self.session, Gio.DBusNodeInfo.new_for_xml(SESSION_OBJECT).interfaces[0], self.close, None, None
            )
            results["session_handle"] = GLib.Variant("s", self.session)
        if method == "Start":
            results["streams"] = GLib.Variant("a(ua{sv})", [(self.settings["node"], {})])
            results["restore_token"] = GLib.Variant("s", self.settings["token"])
        invocation.return_value(GLib.Variant("(o)", (request,)))
        response = self.settings.get(method, 0)
        # Some never answer.
        if response != 9:
            answer = GLib.Variant("(ua{sv})", (response, results))
            bus.emit_signal(sender, request, REQUEST, "Response", answer)

    def sees(self, sender):
        """Whether it can tell who asks, as portals do: whom it has seen once it remembers."""
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

    def close(self, bus, sender, path, interface, method, arguments, invocation):
        self.asked.append("Close")
        invocation.return_value(None)

    def open_remote(self, invocation):
        remote = socket.socket(socket.AF_UNIX)
        remote.connect(os.environ["XDG_RUNTIME_DIR"] + "/pipewire-0")
        descriptors = Gio.UnixFDList.new()
        place = descriptors.append(remote.fileno())
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (place,)), descriptors)
        remote.close()


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    portal = Portal(bus)
    Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, None, None)
    portal.loop.run()


main()
