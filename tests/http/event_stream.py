"""A listener of /api/v1/events: what the server says, as it comes.

    with EventStream(server, heartbeat=1) as events:
        hello = events.next("hello")              # waits; Event(name, data, id)
        events.next("sessions").data["added"]
"""
import http.client
import json
import queue
import threading
import urllib.parse

HEARD_SECONDS = 60


class Event:
    def __init__(self, name, data, id_):
        self.name, self.data, self.id = name, data, id_

    def __repr__(self):
        return f"{self.name} {self.id}: {self.data}"


class EventStream:
    def __init__(self, server, headers=None, address="127.0.0.1", **query):
        """`address`: from where it asks."""
        self.connection = server.connection(HEARD_SECONDS)
        self.connection.source_address = (address, 0)
        target = "/api/v1/events" + ("?" + urllib.parse.urlencode(query) if query else "")
        self.connection.request("GET", target, headers=headers or {})
        self.response = self.connection.getresponse()
        self.status, self.headers = self.response.status, self.response.headers
        self.heard = queue.Queue()
        self.thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Hangs up: the server sees the end of what it reads."""
        if self.connection.sock:
            self.connection.sock.shutdown(2)
        self.response.close()
        self.connection.close()

    def _listen(self):
        fields = {}
        try:
            for line in self.response:
                line = line.decode().rstrip("\n")
                name, _, value = line.partition(": ")
                if line.startswith(":"):
                    self.heard.put(Event("comment", line, None))
                elif line:
                    fields[name] = value
                elif "data" in fields:
                    self.heard.put(Event(fields.get("event"), json.loads(fields["data"]), fields.get("id")))
                    fields = {}
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass
        self.heard.put(Event("end", None, None))

    def next(self, *names):
        """The next event, or the next one of these names; comments only when they are asked for."""
        while True:
            event = self.heard.get(timeout=HEARD_SECONDS)
            if event.name in names or (not names and event.name != "comment"):
                return event

    def until(self, is_wanted):
        """The next event of which is_wanted(data) is true."""
        while True:
            event = self.next("sessions", "end")
            if event.name == "end":
                raise AssertionError("the stream ended")
            if is_wanted(event.data):
                return event
