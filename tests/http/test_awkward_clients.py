"""Nobody is locked out: a thousand clients that never come to an end, and one that only wants a quick answer.

How soon it comes is measured, not tested: make bench-lockout.
"""
import contextlib
import json
import os
import pathlib
import re
import socket
import tempfile
import time
import unittest

from awkward_clients import KINDS, AwkwardClients
from own_certificate import make_certificate
from server_fixture import INSTRUMENTED, Server

CLIENTS, ASKED = 1000, 25
THREADS_MAX = 300
PATHS = ("/", "/healthz", "/api/v1/server", "/api/v1/sessions")
ASKING = ("asking", "asking_from_another", "asking_from_two")
WORKED_OUT = (*ASKING, "saving")  # takes long: few have their answer when one who asks for little has it


def status_of(server, name):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return int(re.search(rf"{name}:\s+(\d+)", file.read()).group(1))


def environment_of(kind):
    """A server that is stopped while hundreds of answers are worked out ends without them, threads and all."""
    if kind not in WORKED_OUT:
        return None
    return {**os.environ, "TSAN_OPTIONS": f"{os.environ.get('TSAN_OPTIONS', '')} report_thread_leaks=0"}


def small_server(environment):
    """One with room for fewer connections than CLIENTS: 832."""
    server = Server(environment=environment)
    server.command = ["sh", "-c", 'ulimit -n 1600 && exec "$0" "$@"', *server.command]
    return server


class Lockout(unittest.TestCase):
    def check(self, kind, tls=None):
        with Server(tls=tls, environment=environment_of(kind)) as server:
            server.get("/api/v1/sessions")
            with AwkwardClients(server.port, kind, CLIENTS) as clients:
                for i in range(ASKED):
                    answer = server.get(("/", "/api/v1/server", "/api/v1/sessions")[i % 3])
                    self.assertEqual(answer.status, 200, (kind, answer))
                if kind in WORKED_OUT:
                    self.assertLess(clients.answered(), CLIENTS / 2, "it waited until they had their answers")
                self.assertEqual(clients.turned_away(), 0)
                self.assertLess(status_of(server, "Threads"), THREADS_MAX)

    def test_thousand_that_say_nothing(self):
        self.check("idle")

    def test_thousand_that_keep_their_connection(self):
        self.check("keep_alive")

    def test_thousand_that_drip_their_heads(self):
        self.check("dripping_heads")

    def test_thousand_that_drip_their_bodies(self):
        self.check("dripping_bodies")

    def test_thousand_that_do_not_read(self):
        self.check("slow_readers")

    def test_thousand_that_half_close(self):
        self.check("half_closed")

    def test_thousand_that_drip_their_handshakes(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check("dripping_handshakes", make_certificate(pathlib.Path(folder)))

    def test_thousand_that_ask(self):
        for kind in ASKING:
            with self.subTest(kind):
                self.check(kind)

    def test_thousand_that_save(self):
        self.check("saving")

    def test_thousand_that_want_an_explanation(self):
        self.check("explaining")

    def test_thousand_that_ask_for_much_at_a_time(self):
        self.check("pipelining")

    def test_thousand_that_listen(self):
        self.check("listening")

    def test_thousand_that_come_again(self):
        for kind in ("garbage", "coming_again"):
            with self.subTest(kind):
                self.check(kind)

    def test_every_kind_is_tried(self):
        tried = {"idle", "keep_alive", "dripping_heads", "dripping_bodies", "slow_readers", "half_closed",
                 "dripping_handshakes", "explaining", "pipelining", "listening", "garbage", "coming_again",
                 *WORKED_OUT}
        self.assertEqual(tried, set(KINDS))


class Room(unittest.TestCase):
    def test_those_who_ask_do_not_fill_it(self):
        """More clients that ask than there are connections: some are told to come again, so that others find room."""
        kind = "asking_from_two"
        with small_server(environment_of(kind)) as server, AwkwardClients(server.port, kind, CLIENTS) as clients:
            self.ask_all(server)
            self.wait_until(lambda: clients.told_busy() > CLIENTS / 10)
            self.ask_all(server)
            self.assertLess(clients.answered(), CLIENTS / 2, "it waited until they had their answers")

    def test_those_who_ask_do_not_keep_their_own_address_out(self):
        kind = "asking"
        with small_server(environment_of(kind)) as server, AwkwardClients(server.port, kind, CLIENTS) as clients:
            self.wait_until(lambda: clients.told_busy() > CLIENTS / 10)
            for path in PATHS:  # of a client that asks again when it is told to
                self.wait_until(lambda: server.get(path).status == 200)
            self.assertLess(clients.answered(), CLIENTS / 2, "it waited until they had their answers")

    def test_whoever_is_told_to_come_again_is_told_when(self):
        kind = "asking"
        with small_server(environment_of(kind)) as server, AwkwardClients(server.port, kind, CLIENTS) as clients:
            self.wait_until(lambda: clients.told_busy() > CLIENTS / 10)
            head, body = clients.refusal().split(b"\r\n\r\n", 1)
            self.assertEqual(json.loads(body)["error"]["code"], "busy")
            self.assertIn(b"\r\nRetry-After: 1\r\n", head + b"\r\n")
            self.assertIn(b"\r\nConnection: close\r\n", head + b"\r\n")

    def test_whoever_asks_for_much_does_not_keep_others_from_loading(self):
        """One address waits for sixty answers of a tenth of a second or more; another's first one comes in between."""
        kind = "asking_from_another"
        with Server("--threads=1", environment=environment_of(kind)) as server, \
                AwkwardClients(server.port, kind, 60) as clients:
            self.wait_until(clients.answered)
            self.assertEqual(server.overview("v5e_matmul").status, 200)
            self.assertLess(clients.answered(), 45, "it waited until they had their answers")

    def ask_all(self, server):
        for path in PATHS:
            self.assertEqual(server.get(path).status, 200, path)

    def wait_until(self, is_so):
        deadline = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_more_than_there_is_room_for(self):
        """Those who came first make room for those who came last."""
        with Server() as server:
            with AwkwardClients(server.port, "idle", 5000) as clients:
                self.assertEqual(server.get("/api/v1/server").status, 200)
                first, last = clients.held[0], clients.held[-1]
                first.settimeout(30)
                self.assertEqual(first.recv(1), b"")
                last.settimeout(30)
                last.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b" 200 ", last.recv(64))

    def test_descriptors_are_raised_to_what_may_be(self):
        with Server() as server:
            with open(f"/proc/{server.process.pid}/limits", encoding="ascii") as file:
                soft, hard = re.search(r"Max open files\s+(\S+)\s+(\S+)", file.read()).groups()
            self.assertEqual(soft, hard)


class Turns(unittest.TestCase):
    CLIENTS, PAIRS = 100, 200

    def test_all_are_answered_in_the_order_in_which_they_ask(self):
        """More of them than are answered without waiting for a turn (turns.h), again and again on one connection."""
        first, last = (b"GET %s HTTP/1.1\r\nHost: localhost\r\n" % path for path in (b"/healthz", b"/api/v1/nothing"))
        asked = self.PAIRS * (first + b"\r\n" + last + b"\r\n") + first + b"Connection: close\r\n\r\n"
        with Server() as server, contextlib.ExitStack() as stack:
            clients = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
                       for _ in range(self.CLIENTS)]
            for client in clients:
                client.sendall(asked)
            for client in clients:
                statuses = re.findall(rb"HTTP/1\.1 (\d+)", b"".join(iter(lambda: client.recv(1 << 16), b"")))
                self.assertEqual(statuses, self.PAIRS * [b"200", b"404"] + [b"200"])


class Bodies(unittest.TestCase):
    def test_unfinished_bodies_share_one_budget(self):
        """40 bodies of 15 of 16 MiB: 600 MiB, of which at most 64 are kept; and an honest one gets through."""
        head = b"POST /api/v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (16 << 20)
        held = []
        with Server() as server:
            for _ in range(40):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
                connection.sendall(head)
                for _ in range(15):
                    connection.sendall(b"y" * (1 << 20))
                held.append(connection)
            deadline = time.monotonic() + 60
            while (answer := server.request("POST", "/api/v1/explain", body=b"no message")).status == 503:
                self.assertLess(time.monotonic(), deadline, "the budget is never free")
            self.assertEqual(answer.status, 404, answer)
            most_mib = 480 if INSTRUMENTED else 160  # a sanitizer takes a multiple
            self.assertLess(status_of(server, "VmHWM"), most_mib << 10)
            told = [self.finish(connection) for connection in held]
            self.assertIn(b"503", told)
            self.assertGreaterEqual(len([status for status in told if status in (b"503", b"")]), 36, told)

    def finish(self, connection):
        """The status, when the rest has come: who made room, or found none, is told so; b"" of one that was too slow,
        as on a busy machine all are."""
        with connection, contextlib.suppress(ConnectionError):
            connection.sendall(b"y" * (1 << 20))
            return (connection.recv(64).split() + [b"", b""])[1]
        return b""


if __name__ == "__main__":
    unittest.main()
