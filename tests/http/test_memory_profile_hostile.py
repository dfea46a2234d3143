"""Enemies of the Memory Profile: nonsense in the query, damaged and hostile files, files that change while served.

Every answer must be JSON with a sensible status, and what is told of a file must stay true however odd the file is.
"""
import gzip
import json
import os
import random
import threading
import unittest
import urllib.parse

import memory_profile_cases
from log_folders import age, folder, xplane
from profile_build import Profile
from server_fixture import FIXTURES, FixturesServed, Server

API = "/api/v1/memory_profile"
NAMES = "timeline events modules breakdown ops steps held pressure findings"
ENDPOINTS = ["", *(f"/{name}" for name in NAMES.split())]
OF_A_MEMORY = [endpoint for endpoint in ENDPOINTS if endpoint not in ("", "/modules")]
NUMBERS = {"load", "from_ps", "to_ps", "buckets", "offset", "limit", "row", "time_ps"}
NONSENSE = ["", "x", "-", "-1", "+5", "%205", "5%0A", "1e9", "NaN", "0x10", "9223372036854775807",
            "-9223372036854775808", "9223372036854775808", "9" * 40, "%00", "a%00b", "%ff%fe", "%ED%A0%80", "%25n%25s",
            "..%2f..%2fetc", "a" * 5000]
INT64_MAX, INT64_MIN = (1 << 63) - 1, -(1 << 63)


def no_number(text):
    raise ValueError(f"{text} is no number of JSON")


def grouped(fill):
    """The bytes of a profile whose steps are known already."""
    profile = Profile()
    profile.host.stat_id("group_id")
    fill(profile, memory_profile_cases.memory_event)
    return profile.bytes()


def damaged(data, rng):
    """One of the ways a file breaks: cut, or a few bytes changed, inserted, taken out, repeated."""
    broken = bytearray(data)
    if rng.random() < 0.15:
        return bytes(broken[:rng.randrange(len(broken))])
    for _ in range(rng.choice([1, 2, 5, 40])):
        at = rng.randrange(len(broken))
        change = rng.randrange(4)
        if change == 0:
            broken[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif change == 1:
            broken[at:at + 1] = rng.choice([b"\xff" * 9 + b"\x01", b"\x80" * 9 + b"\x01", b"\xff" * 4 + b"\x0f"])
        elif change == 2:
            del broken[at:at + rng.randrange(1, 30)]
        else:
            broken[at:at] = broken[at:at + rng.randrange(1, 200)]
    return bytes(broken)


class Hostile(unittest.TestCase):
    def ask(self, server, target, allowed=(200, 400, 404, 422)):
        """The document; its "error" says what an error is."""
        answer = server.request("GET", target)
        self.assertIn(answer.status, allowed, f"{target[:200]}: {answer}")
        document = json.loads(answer.body.decode("utf-8"), parse_constant=no_number)
        if answer.status != 200:
            self.assertTrue(document["error"]["message"], target[:200])
        return document

    def check_sums(self, breakdown, place):
        held = sum(breakdown["rows"]["total_bytes"]) + breakdown["unexplained_bytes"]
        self.assertEqual((held - breakdown["heap_bytes"]) % (1 << 64), 0, place)

    def check_session(self, server, session):
        """Every endpoint answers, and what is told of each memory agrees with itself."""
        overview = server.overview(session).json()
        for endpoint in ENDPOINTS[1:]:
            self.ask(server, f"{API}{endpoint}?session={session}")
        for host in overview["hosts"]:
            for memory in host["memories"][:3]:
                query = urllib.parse.urlencode({"session": session, "host": host["host"],
                                                "memory_id": memory["memory_id"]})
                self.check_memory(server, query, memory)

    def check_memory(self, server, query, memory):
        if "\ufffd" in memory["memory_id"]:
            return  # two damaged names may look alike
        good = {endpoint: self.ask(server, f"{API}{endpoint}?{query}", allowed=(200,)) for endpoint in OF_A_MEMORY}
        self.assertEqual(sum(good["/timeline"]["count"]), memory["events"], query)
        self.assertEqual(good["/events"]["total"], memory["events"], query)
        self.assertEqual(good["/ops"]["allocations"] + good["/ops"]["frees"], memory["events"], query)
        self.check_sums(good["/breakdown"], query)
        for row in {0, memory["events"] // 2, memory["events"] - 1}:
            self.check_sums(self.ask(server, f"{API}/breakdown?{query}&row={row}", allowed=(200,)), (query, row))


class Arguments(FixturesServed, Hostile):
    def test_no_value_of_any_argument_breaks_an_endpoint(self):
        for endpoint in ENDPOINTS:
            for name in sorted(NUMBERS | {"session", "host", "memory_id", "only", "op", "unknown"}):
                for value in NONSENSE:
                    query = f"{name}={value}" if name == "session" else f"session=tf_tiny&{name}={value}"
                    with self.subTest(endpoint=endpoint, query=query[:60]):
                        self.ask(self.server, f"{API}{endpoint}?{query}", allowed=(200, 400, 404))

    def test_what_is_no_number_is_refused_and_named(self):
        for endpoint, name in (("timeline", "from_ps"), ("timeline", "buckets"), ("events", "offset"),
                               ("events", "limit"), ("breakdown", "row"), ("breakdown", "time_ps"), ("held", "limit")):
            for value in ("x", "NaN", "1e9", "5%0A", "9223372036854775808"):
                target = f"{API}/{endpoint}?session=tf_tiny&{name}={value}"
                self.assertIn(name, self.ask(self.server, target, allowed=(400,))["error"]["message"])

    def test_windows_reach_to_both_ends_of_time(self):
        whole = self.ask(self.server, f"{API}/timeline?session=tf_leak")
        for buckets in (1, 2, 3, 9999, 10000):
            reply = self.ask(self.server, f"{API}/timeline?session=tf_leak&from_ps={INT64_MIN}&to_ps={INT64_MAX}"
                                          f"&buckets={buckets}", allowed=(200,))
            self.assertEqual(reply["events"], whole["events"])
            self.assertEqual(sum(reply["count"]), whole["events"])
            self.assertTrue(all(0 <= bucket < buckets for bucket in reply["bucket"]))

    def test_a_line_break_in_an_argument_does_not_answer_for_another_question(self):
        held = f"{API}/held?session=tf_leak&op=Relu"
        self.assertEqual(self.ask(self.server, f"{held}%0Alimit=2")["total"], 0)
        self.assertEqual(self.ask(self.server, f"{held}&limit=2")["total"], 12)

    def test_a_query_of_too_many_arguments_costs_only_its_connection(self):
        """Answered before libmicrohttpd reads them; that nothing is lost with it is for the leak sanitizer to say."""
        query = "&".join(f"x{i}=1" for i in range(1000))
        for _ in range(20):
            self.assertEqual(self.server.request("GET", f"/api/v1/sessions?{query}").status, 400)
        self.assertEqual(self.server.get("/api/v1/server").status, 200)


class Files(Hostile):
    def test_damaged_profiles_tell_what_is_there(self):
        rng = random.Random(4)
        whole = [xplane(name) for name in ("tf_oom", "tf_tiny", "tf_two_allocators", "tf_with_tpu_modules")]
        whole += [memory_profile_cases.make(name) for name in sorted(memory_profile_cases.CASES)]
        files = {f"s{i}/vm.xplane.pb": damaged(rng.choice(whole), rng) for i in range(30)}
        with folder(files) as root, Server(logdir=root) as server:
            for i in range(30):
                with self.subTest(session=i):
                    self.check_session(server, f"s{i}")
                    query = {"tag": "memory_profile", "run": f"s{i}", "host": "vm"}
                    answer = server.get("/data/plugin/profile/data", query)
                    self.assertIn(answer.status, (200, 404, 422))

    def test_a_compressed_profile_tells_the_same(self):
        content = xplane("tf_two_allocators")
        with folder({"a/vm.xplane.pb": content, "b/vm.xplane.pb.gz": gzip.compress(content)}) as root, \
                Server(logdir=root) as server:
            for endpoint in OF_A_MEMORY:
                plain, zipped = (self.ask(server, f"{API}{endpoint}?session={name}", allowed=(200,)) for name in "ab")
                self.assertEqual({**plain, "session": ""}, {**zipped, "session": ""}, endpoint)

    def test_a_byte_is_no_profile(self):
        files = {f"s{i}/vm.xplane.pb": bytes([i]) for i in (0, 10, 31, 255)}
        files |= {"zip/vm.xplane.pb.gz": b"\x1f", "none/vm.xplane.pb": b"", "prof/memory.prof": b"\x1f"}
        with folder(files) as root, Server(logdir=root) as server:
            for name in sorted({place.split("/")[0] for place in files}):
                self.ask(server, f"{API}?session={name}")
                for endpoint in OF_A_MEMORY:
                    self.ask(server, f"{API}{endpoint}?session={name}", allowed=(404, 422))
                self.ask(server, f"/api/v1/device_memory?session={name}", allowed=(200, 404))

    def test_sizes_and_times_at_the_ends_of_64_bits(self):
        ends = [INT64_MAX, INT64_MIN, 0, -1]

        def sizes(profile, event):
            line = profile.host.line()
            for i in range(60):
                event(profile, line, 10 * i, i % 3 == 2, group_id=ends[i % 4], addr=i // 3, bytes_allocated=ends[i % 3],
                      bytes_reserved=ends[i % 2], bytes_available=ends[(i + 1) % 2], requested_bytes=INT64_MAX,
                      allocation_bytes=ends[i % 4], fragmentation=[float("nan"), -1e308, 1e308, float("inf")][i % 4])

        def times(profile, event):
            for start in ends:
                line = profile.host.line("", start)
                for offset in ends:
                    event(profile, line, offset, group_id=offset, addr=offset)

        with folder({"sizes/vm.xplane.pb": grouped(sizes), "times/vm.xplane.pb": grouped(times)}) as root, \
                Server(logdir=root) as server:
            self.check_session(server, "sizes")
            self.check_session(server, "times")

    def test_thousands_of_memories_and_of_lines(self):
        def memories(count):
            return grouped(lambda profile, event: [event(profile, line, i, allocator_name=f"a{i}", group_id=0)
                                                   for line in [profile.host.line()] for i in range(count)])

        lines = grouped(lambda profile, event: [event(profile, profile.host.line(f"t{i}", i), 1, group_id=0, addr=i)
                                                for i in range(5000)])
        files = {"most/vm.xplane.pb": memories(4096), "beyond/vm.xplane.pb": memories(4097),
                 "lines/vm.xplane.pb": lines}
        with folder(files) as root, Server(logdir=root) as server:
            most = self.ask(server, f"{API}?session=most", allowed=(200,))["hosts"][0]
            self.assertEqual((len(most["memories"]), most["events"]), (4096, 4096))
            beyond = self.ask(server, f"{API}?session=beyond", allowed=(200,))["hosts"][0]
            self.assertEqual((beyond["state"], beyond["error"]["code"]), ("error", "too_big"))
            self.assertEqual(self.ask(server, f"{API}/events?session=lines", allowed=(200,))["total"], 5000)

    def test_files_that_change_while_they_are_served(self):
        """Two clients ask while the file is replaced, cut, taken away and made a pipe."""
        contents = [xplane("tf_leak"), xplane("tf_oom"), xplane("tf_two_allocators")]
        with folder({"s/vm.xplane.pb": contents[0]}) as root, Server(logdir=root) as server:
            changes = Changes(os.path.join(root, "plugins/profile/s/vm.xplane.pb"), contents)
            faults = []

            def client():
                try:
                    for i in range(120):
                        reply = self.ask(server, f"{API}{ENDPOINTS[i % len(ENDPOINTS)]}?session=s")
                        if "rows" in reply:
                            self.check_sums(reply, i)
                except Exception as fault:  # told by the test's own thread
                    faults.append(fault)

            clients = [threading.Thread(target=client) for _ in range(2)]
            for thread in clients:
                thread.start()
            while any(thread.is_alive() for thread in clients):
                changes.make_one()
            self.assertEqual(faults, [])
            changes.put_back()
            self.assertEqual(self.ask(server, f"{API}/events?session=s&limit=1", allowed=(200,))["total"], 467)


class Changes:
    def __init__(self, place, contents):
        self.place, self.contents, self.rng = place, contents, random.Random(1)

    def put_back(self):
        self.write(self.contents[0])
        age(self.place)

    def write(self, content):
        if os.path.lexists(self.place):
            os.unlink(self.place)
        with open(self.place, "wb") as file:
            file.write(content)

    def make_one(self):
        content = self.rng.choice(self.contents)
        change = self.rng.randrange(5)
        if change == 0:
            with open(self.place + ".new", "wb") as file:
                file.write(content)
            os.rename(self.place + ".new", self.place)
        elif change == 1:
            self.write(content[:self.rng.randrange(len(content))])
        elif change == 2 and os.path.isfile(self.place):
            os.truncate(self.place, self.rng.randrange(1 << 16))
        elif os.path.lexists(self.place):
            os.unlink(self.place)
            if change == 3:
                os.mkfifo(self.place)
        if os.path.isfile(self.place):
            age(self.place)


class DeviceMemory(Hostile):
    def test_damaged_profiles_and_nonsense_arguments(self):
        rng = random.Random(6)
        whole = gzip.decompress((FIXTURES / "device_memory/two_devices.memory.prof").read_bytes())
        files = {}
        for i in range(25):
            data = damaged(whole, rng)
            files[f"s/m{i}.prof"] = gzip.compress(data, mtime=0) if i % 2 else data
        with folder(files) as root, Server(logdir=root) as server:
            found = self.ask(server, "/api/v1/device_memory?session=s", allowed=(200,))["files"]
            self.assertTrue(found)
            for file in found:
                place = f"/api/v1/device_memory/profile?session=s&file={file['name']}"
                self.assertEqual("error" in self.ask(server, place), file["error"] is not None, file)
            for name in ("session", "file", "frames"):
                for value in NONSENSE:
                    query = f"{name}={value}" if name == "session" else f"session=s&{name}={value}"
                    self.ask(server, f"/api/v1/device_memory/profile?{query}")


if __name__ == "__main__":
    unittest.main()
