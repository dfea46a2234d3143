"""/api/v1/memory_profile, its timeline, events, modules: exact, agreeing with each other and with XProf's answers."""
import gzip
import json
import math
import os
import random
import unittest

from log_folders import folder, xplane
from memory_profile_cases import memory_event
from profile_build import Profile
from server_fixture import FIXTURES, ServedCase, Server

API = "/api/v1/memory_profile"
GOLDEN = FIXTURES / "xprof_golden"
COLUMNS = ("heap", "stack", "free")


def made(events, name="bfc"):
    """A profile with one event for each dict of stats; time_ps and is_free are its own."""
    profile = Profile()
    line = profile.host.line("worker")
    for i, event in enumerate(events):
        told = dict(event)
        is_free = told.pop("is_free", False)
        memory_event(profile, line, told.pop("time_ps", 10 * i), is_free, allocator_name=name, **told)
    return profile.bytes()


def largest_free(free, fragmentation):
    """docs/api.md: free x (1 - fragmentation), between 0 and free."""
    if free <= 0:
        return 0
    if fragmentation is None:
        return None
    return max(0, min(free, math.floor(free * (1 - fragmentation) + 0.5)))


def golden(session, host):
    path = GOLDEN / f"memory_profile__{session}__{host}.json.gz"
    text = gzip.decompress(path.read_bytes()) if path.exists() else b""
    return json.loads(text) if text else None


class MemoryProfile(ServedCase):
    def ask(self, endpoint="", server=None, **query):
        server = server or self.server
        is_overview = not endpoint and list(query) == ["session"]
        answer = server.overview(query["session"]) if is_overview else server.get(API + endpoint, query)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def refused(self, endpoint, code, status, server=None, **query):
        answer = (server or self.server).get(API + endpoint, query)
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (status, code), answer)
        return answer.json()["error"]["message"]

    def events(self, server=None, **query):
        """Every event, page by page, as rows."""
        rows, offset = [], 0
        while True:
            page = self.ask("/events", server, offset=offset, limit=700, **query)
            strings = page["strings"]
            for i in range(len(page["row"])):
                row = {key: column[i] for key, column in page.items() if isinstance(column, list) and key != "strings"}
                for key in ("op", "region_type", "data_type", "shape", "thread"):
                    row[key] = strings[row[key]]
                rows.append(row)
            offset += len(page["row"])
            if offset >= page["total"]:
                self.assertEqual(offset, page["total"])
                return rows

    def every_memory(self):
        for session in self.server.get("/api/v1/sessions").json()["sessions"]:
            for host in self.ask(session=session["name"])["hosts"]:
                for memory in host["memories"]:
                    place = {"session": session["name"], "host": host["host"], "memory_id": memory["memory_id"]}
                    yield place, memory, self.events(**place)

    # --- The overview ---

    def test_an_overview_tells_what_is_known_and_gets_further_each_time(self):
        """Eight hosts, the first and the fourth of them broken, one more read for each answer."""
        good = xplane("tf_tiny")
        files = {f"s/host{i}.xplane.pb": good if i not in (0, 3) else b"\x0a\xff" for i in range(8)}
        with folder(files) as logdir, Server(logdir=logdir) as server:
            for read in (0, 0, *range(1, 8)):
                reply = self.ask(server=server, session="s", load=1 if read else 0)
                states = [host["state"] for host in reply["hosts"]]
                self.assertEqual((states.count("loading"), reply["complete"]), (8 - read, False))
                self.assertEqual(len({tuple(host) for host in reply["hosts"]}), 1, "one has other fields than another")
            whole = self.ask(server=server, session="s", load=1)
            self.assertEqual([host["state"] for host in whole["hosts"]], ["error", *2 * ["events"], "error",
                                                                          *4 * ["events"]])
            self.assertTrue(whole["complete"])
            self.assertEqual(whole, self.ask(server=server, session="s"))
            alone = self.ask(session="tf_tiny")["hosts"][0]
            self.assertEqual(whole["hosts"][5], {**alone, "host": "host5"})

    def test_the_host_that_is_asked_for_is_read_first(self):
        good = xplane("tf_tiny")
        with folder({f"s/host{i}.xplane.pb": good for i in range(4)}) as logdir, Server(logdir=logdir) as server:
            for host, states in (("host2", ["loading", "loading", "events", "loading"]),
                                 ("host2", ["events", "loading", "events", "loading"])):
                reply = self.ask(server=server, session="s", load=1, first=host)
                self.assertEqual([one["state"] for one in reply["hosts"]], states)

    def test_a_host_that_cannot_be_opened_keeps_nobody_waiting(self):
        good = xplane("tf_tiny")
        with folder({f"s/host{i}.xplane.pb": good for i in range(3)}) as logdir, Server(logdir=logdir) as server:
            place = logdir / "plugins" / "profile" / "s" / "host0.xplane.pb"
            self.assertEqual(len(self.ask(server=server, session="s", load=0)["hosts"]), 3)
            place.unlink()
            place.mkdir()
            replies = [self.ask(server=server, session="s", load=1) for _ in range(2)]
            self.assertTrue(replies[1]["complete"])
            states = {host["host"]: host["state"] for host in replies[1]["hosts"]}
            self.assertEqual((states["host1"], states["host2"]), ("events", "events"))

    def test_overview_says_what_the_events_say(self):
        seen = 0
        for place, memory, events in self.every_memory():
            with self.subTest(**place):
                told = [event for event in events if event["has_state"]]
                allocations = [event for event in events if not event["is_free"]]
                held = [event for event in allocations if event["partner_row"] < 0]
                self.assertEqual(memory["events"], len(events))
                self.assertEqual([event["row"] for event in events], list(range(len(events))))
                self.assertEqual(memory["allocations"], len(allocations))
                self.assertEqual(memory["frees"], len(events) - len(allocations))
                self.assertEqual(memory["requested_bytes"], sum(event["requested_bytes"] for event in allocations))
                self.assertEqual(memory["allocated_bytes"], sum(event["allocated_bytes"] for event in allocations))
                self.assertEqual(memory["held_allocations"], len(held))
                held_bytes = sum(event["allocated_bytes"] or event["requested_bytes"] for event in held)
                self.assertEqual(memory["held_at_end_bytes"], held_bytes)
                self.assertEqual(memory["begin_ps"], events[0]["time_ps"])
                self.assertEqual(memory["end_ps"], events[-1]["time_ps"] + 1)
                self.assert_peak(memory, told)
                seen += 1
        self.assertGreater(seen, 15)

    def assert_peak(self, memory, told):
        if not told:
            self.assertIsNone(memory["peak_bytes"])
            return
        peak = max(told, key=lambda event: (event["heap_bytes"] + event["stack_bytes"], -event["row"]))
        self.assertEqual(memory["peak_row"], peak["row"])
        self.assertEqual(memory["peak_bytes"], peak["heap_bytes"] + peak["stack_bytes"])
        self.assertEqual((memory["peak_ps"], memory["peak_step"]), (peak["time_ps"], peak["step"]))
        self.assertEqual(memory["lifetime_peak_bytes"], max(event["peak_bytes"] for event in told))
        self.assertEqual(memory["heap_at_end_bytes"], told[-1]["heap_bytes"])
        tells_free = any(event["free_bytes"] for event in told)
        self.assertEqual(memory["tells_free"], tells_free)
        for key in ("stack_bytes", "heap_bytes", "free_bytes", "fragmentation"):
            self.assertEqual(memory["at_peak"][key], peak[key])
        largest = largest_free(peak["free_bytes"], peak["fragmentation"]) if tells_free else None
        self.assertEqual(memory["at_peak"]["largest_free_bytes"], largest)
        self.assertEqual(memory["capacity_bytes"], memory["peak_bytes"] + peak["free_bytes"] if tells_free else None)

    def test_what_xprof_says_is_what_xprof_said(self):
        seen = 0
        for place, memory, events in self.every_memory():
            recorded = golden(place["session"], place["host"])
            if not recorded:
                continue
            xprof = recorded["memoryProfilePerAllocator"][place["memory_id"]]
            kinds = [sample["activityMetadata"]["memoryActivity"] for sample in xprof["sampledTimelineSnapshots"]]
            with self.subTest(**place):
                self.assertEqual(memory["xprof"], {
                    "allocations": kinds.count("ALLOCATION"), "frees": kinds.count("DEALLOCATION"),
                    "sampled": len(kinds) < len(events),
                    "lifetime_peak_bytes": int(xprof["profileSummary"]["peakBytesUsageLifetime"]),
                    "peak_ps": int(xprof["profileSummary"]["peakStatsTimePs"])})
                notes = "\n".join(memory["notes"])
                self.assertEqual("deallocations: those among the" in notes, len(kinds) < len(events))
                self.assertEqual("XProf shows a lifetime peak" in notes, memory["lifetime_peak_bytes"] is not None and
                                 memory["xprof"]["lifetime_peak_bytes"] != memory["lifetime_peak_bytes"])
            seen += 1
        self.assertGreater(seen, 15)

    def test_hosts_without_events_are_explained(self):
        hosts = {host["host"]: host for host in self.ask(session="memory_profile_cases")["hosts"]}
        self.assertEqual(hosts["no-events"]["state"], "no_events")
        self.assertEqual(hosts["no-host-plane"]["state"], "no_host_plane")
        self.assertEqual(hosts["equal-peaks"]["state"], "events")
        for name in ("no-events", "no-host-plane"):
            self.assertIn("/host:CPU", hosts[name]["reason"])
            self.assertEqual(hosts[name]["memories"], [])
        jax = self.ask(session="jax_cpu_mlp")["hosts"][0]
        for words in ("JAX on CPU", "host_tracer_level", "save_device_memory_profile", "Memory Viewer"):
            self.assertIn(words, jax["advice"])
        self.assertNotIn("Memory Viewer", self.ask(session="tf_no_memory_events")["hosts"][0]["advice"])

    def test_a_damaged_host_leaves_the_others(self):
        good = made([{"bytes_allocated": 5}])
        with folder({"s/a.xplane.pb": good, "s/b.xplane.pb": b"\xff" * 64, "s/c.xplane.pb": good,
                     "s/d.xplane.pb": good[:-20]}) as root, Server(logdir=root) as server:
            hosts = {host["host"]: host for host in self.ask(server=server, session="s")["hosts"]}
            self.assertEqual([name for name in "abcd" if hosts[name]["error"]], ["b", "d"])
            self.assertEqual((hosts["b"]["state"], hosts["b"]["memories"]), ("error", []))
            self.assertEqual((hosts["a"]["events"], hosts["c"]["events"]), (1, 1))
            os.unlink(root / "plugins/profile/s/b.xplane.pb")
            self.assertEqual(len(self.ask(server=server, session="s")["hosts"]), 3)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_what_the_system_refused_is_tried_again(self):
        good = made([{"bytes_allocated": 5}])
        with folder({"s/a.xplane.pb": good, "s/b.xplane.pb": good}) as root, Server(logdir=root) as server:
            place = root / "plugins/profile/s/a.xplane.pb"
            for mode, states in ((0, ["error", "events"]), (0o444, ["events", "events"])):
                place.chmod(mode)
                hosts = self.ask(server=server, session="s")["hosts"]
                self.assertEqual([host["state"] for host in hosts], states)

    def test_first_frees_of_what_was_there_before(self):
        with folder({"s/h.xplane.pb": made([{"bytes_allocated": 5, "allocation_bytes": 15}])}) as root, \
                Server(logdir=root) as server:
            memory = self.ask(server=server, session="s")["hosts"][0]["memories"][0]
            self.assertEqual(memory["held_at_begin_bytes"], -10)
            self.assertTrue(any("10 B " in note for note in memory["notes"]), memory["notes"])

    def test_notes_say_what_the_figures_cannot_tell(self):
        memories = {m["memory_id"]: m for m in self.ask(session="tf_two_allocators")["hosts"][0]["memories"]}
        self.assertFalse(memories["cpu"]["tells_usage"])
        self.assertIn("keeps no statistics", memories["cpu"]["notes"][0])
        self.assertIsNone(memories["cpu"]["capacity_bytes"])
        hosts = {host["host"]: host for host in self.ask(session="memory_profile_cases")["hosts"]}
        apart = hosts["lines-that-start-apart"]["memories"][0]["notes"]
        self.assertTrue(any("not recorded from the same moment" in note for note in apart), apart)
        twice = hosts["address-allocated-twice"]["memories"][0]["notes"]
        self.assertTrue(any("reuse an address" in note for note in twice), twice)
        leak = self.ask(session="tf_leak")["hosts"][0]["memories"][0]
        self.assertGreater(leak["held_at_begin_bytes"], 0)
        self.assertTrue(any("before profiling began" in note for note in leak["notes"]))

    # --- The timeline ---

    def naive(self, events, window, tells_free):
        """The entries of a reply, counted again from the events."""
        inside = [event for event in events if window["from_ps"] <= event["time_ps"] < window["to_ps"]]
        span, count = window["to_ps"] - window["from_ps"], window["buckets"]
        entries = []
        for event in inside:
            bucket = (event["time_ps"] - window["from_ps"]) * count // span
            if len(inside) <= count or not entries or entries[-1][0] != bucket:
                entries.append((bucket, []))
            entries[-1][1].append(event)
        return inside, [self.naive_entry(bucket, members, tells_free) for bucket, members in entries]

    def naive_entry(self, bucket, members, tells_free):
        told = [event for event in members if event["has_state"]]
        used = [event["heap_bytes"] + event["stack_bytes"] for event in told]
        numbers = [event["fragmentation"] for event in told if event["fragmentation"] is not None]
        largest = [largest_free(event["free_bytes"], event["fragmentation"]) for event in told] if tells_free else []
        largest = [value for value in largest if value is not None]
        entry = {"bucket": bucket, "count": len(members), "first_row": members[0]["row"],
                 "time_ps": members[0]["time_ps"], "last_time_ps": members[-1]["time_ps"],
                 "peak_row": told[used.index(max(used))]["row"] if told else -1,
                 "used_min": min(used, default=None), "used_max": max(used, default=None),
                 "largest_free_min": min(largest, default=None),
                 "fragmentation_min": min(numbers, default=None), "fragmentation_max": max(numbers, default=None),
                 "fragmentation_last": told[-1]["fragmentation"] if told else None}
        for name in COLUMNS:
            values = [event[f"{name}_bytes"] for event in told]
            entry |= {f"{name}_min": min(values, default=None), f"{name}_max": max(values, default=None),
                      f"{name}_last": values[-1] if values else None}
        return entry

    def assert_timeline(self, place, events, tells_free, **window):
        reply = self.ask("/timeline", **place, **window)
        inside, entries = self.naive(events, reply, tells_free)
        self.assertEqual(reply["events"], len(inside))
        self.assertEqual(reply["is_exact"], len(inside) <= reply["buckets"])
        self.assertEqual(len(reply["bucket"]), len(entries))
        for key in entries[0] if entries else ():
            expected = [entry[key] for entry in entries]
            if key.startswith("fragmentation"):
                for ours, theirs in zip(reply[key], expected):
                    if theirs is None or ours is None:
                        self.assertEqual(ours, theirs)
                    else:
                        self.assertAlmostEqual(ours, theirs, delta=max(5.1e-7, abs(theirs) * 1e-15))
            else:
                self.assertEqual(reply[key], expected, key)
        before = [event for event in events if event["time_ps"] < reply["from_ps"] and event["has_state"]]
        keys = ("heap_bytes", "stack_bytes", "free_bytes", "fragmentation", "row", "time_ps")
        self.assertEqual(reply["before"], {key: before[-1][key] for key in keys} if before else None)

    def test_windows_are_a_naive_count_at_every_zoom(self):
        chance = random.Random(20)
        for place, memory, events in self.every_memory():
            begin, end = memory["begin_ps"], memory["end_ps"]
            with self.subTest(**place):
                self.assert_timeline(place, events, memory["tells_free"])
                for buckets in (1, 7, 100, 10000):
                    self.assert_timeline(place, events, memory["tells_free"], buckets=buckets)
                for _ in range(6):
                    first = chance.randint(begin - 5, end)
                    self.assert_timeline(place, events, memory["tells_free"], from_ps=first,
                                         to_ps=chance.randint(first + 1, end + 5), buckets=chance.randint(1, 60))

    def test_windows_at_the_ends_of_numbers(self):
        place = {"session": "tf_tiny"}
        most, least = 2**63 - 1, -(2**63)
        for first, end, events in ((least, most, 2), (most, most, 0), (least, least, 0), (0, 0, 0)):
            reply = self.ask("/timeline", **place, from_ps=first, to_ps=end, buckets=3)
            self.assertEqual((reply["events"], sum(reply["count"])), (events, events))
        self.assertEqual(self.ask("/timeline", **place, from_ps=most)["events"], 0)
        self.assertEqual(self.ask("/timeline", **place, to_ps=least)["events"], 0)

    def test_what_is_no_window_is_refused(self):
        place = {"session": "tf_tiny"}
        for wrong in ({"buckets": 0}, {"buckets": 10001}, {"buckets": "x"}, {"from_ps": 2, "to_ps": 1},
                      {"from_ps": "1.5"}, {"to_ps": 2**63}):
            self.refused("/timeline", "bad_request", 400, **place, **wrong)
        self.assertIn("bfc_cpu_allocator_for_gpu", self.refused("/timeline", "not_found", 404, **place, memory_id="no"))
        self.refused("/timeline", "not_found", 404, **place, host="no")
        self.refused("", "not_found", 404, session="no")
        self.refused("", "bad_request", 400)

    # --- The events ---

    def test_replaying_the_events_reproduces_heap_and_stack(self):
        """Or the event is listed, with what is missing."""
        explained = listed = 0
        for place, memory, events in self.every_memory():
            unexplained, state = [], None
            for event in events:
                moved = -event["allocated_bytes"] if event["is_free"] else event["allocated_bytes"]
                if state is not None:
                    state[0] += moved
                if event["has_state"] and memory["tells_usage"]:
                    told = [event["heap_bytes"], event["stack_bytes"]]
                    wrong = [a - b for a, b in zip(told, state)] if state is not None else [0, 0]
                    self.assertEqual(event["unexplained_bytes"], sum(wrong), (place, event))
                    self.assertEqual(event["unexplained_stack_bytes"], wrong[1], (place, event))
                    if any(wrong):
                        unexplained.append(event)
                    explained += not any(wrong)
                    state = told
            with self.subTest(**place):
                self.assertEqual(memory["unreplayed_events"], len(unexplained))
                self.assertEqual(self.events(**place, only="unexplained"), unexplained)
            listed += len(unexplained)
        self.assertGreater(explained, 1000)
        self.assertGreater(listed, 0)

    def test_frees_and_allocations_name_each_other(self):
        pairs = 0
        for place, _, events in self.every_memory():
            for event in events:
                if event["partner_row"] < 0:
                    continue
                partner = events[event["partner_row"]]
                self.assertEqual(partner["partner_row"], event["row"], place)
                self.assertNotEqual(partner["is_free"], event["is_free"])
                for key in ("address", "op", "region_type", "data_type", "shape"):
                    self.assertEqual(partner[key], event[key])
                pairs += 1
        self.assertGreater(pairs, 500)

    def test_pages_windows_and_single_rows(self):
        place = {"session": "tf_leak"}
        events = self.events(**place)
        first, end = events[100]["time_ps"], events[200]["time_ps"]
        inside = [event for event in events if first <= event["time_ps"] < end]
        self.assertEqual(self.events(**place, from_ps=first, to_ps=end), inside)
        page = self.ask("/events", **place, from_ps=first, to_ps=end, offset=10, limit=5)
        self.assertEqual((page["total"], page["offset"]), (len(inside), 10))
        self.assertEqual(page["row"], [event["row"] for event in inside[10:15]])
        self.assertEqual(self.ask("/events", **place, row=7)["time_ps"], [events[7]["time_ps"]])
        self.assertEqual(self.ask("/events", **place, offset=10**12)["row"], [])
        self.assertEqual(self.ask("/events", **place, limit=0)["total"], len(events))
        self.assertIn(str(len(events)), self.refused("/events", "not_found", 404, **place, row=len(events)))
        for wrong in ({"limit": 10001}, {"limit": -1}, {"offset": -1}, {"row": -2}, {"only": "all"}):
            self.refused("/events", "bad_request", 400, **place, **wrong)

    def test_events_that_cross_are_listed_with_their_difference(self):
        with folder({"s/h.xplane.pb": made([
                {"bytes_allocated": 1000, "allocation_bytes": 1, "addr": 1},
                {"bytes_allocated": 1300, "allocation_bytes": 200, "addr": 2},
                {"bytes_allocated": 1100, "allocation_bytes": 100, "addr": 3},
                {"bytes_allocated": 1350, "allocation_bytes": 50, "addr": 4},
                {"bytes_allocated": 1150, "allocation_bytes": 200, "addr": 2, "is_free": True},
        ])}) as root, Server(logdir=root) as server:
            listed = self.ask("/events", server, session="s", only="unexplained")
            self.assertEqual((listed["row"], listed["unexplained_bytes"]), ([1, 2, 3], [100, -300, 200]))
            memory = self.ask(server=server, session="s")["hosts"][0]["memories"][0]
            self.assertEqual(memory["unreplayed_events"], 3)
            self.assertTrue(any("3 of 5 events" in note for note in memory["notes"]), memory["notes"])

    # --- The programs ---

    def test_module_runs_are_xprofs(self):
        """XProf counts a run's times from its own line's start."""
        for session, host in (("tf_with_tpu_modules", "vm"), ("memory_profile_cases", "module-runs")):
            recorded = golden(session, host)["hloModules"]
            reply = self.ask("/modules", session=session, host=host)
            runs = reply["runs"]
            self.assertEqual([reply["strings"][name] for name in runs["name"]], [run["name"] for run in recorded])
            self.assertEqual(len(runs["begin_ps"]), len(recorded))
            for begin, end, run in zip(runs["begin_ps"], runs["end_ps"], recorded):
                self.assertEqual(end - begin, int(run["endTimePs"]) - int(run["startTimePs"]))
        self.assertEqual(self.ask("/modules", session="memory_profile_cases")["host"], "module-runs")
        none = self.ask("/modules", session="tf_tiny")
        self.assertEqual((none["devices"], none["runs"]["name"]), ([], []))

    # --- Hostile text, and caching ---

    def test_any_bytes_may_be_a_text(self):
        hostile = b'\xff\xc3("\\\x00\x01</script>\xed\xa0\x80'
        data = made([{"bytes_allocated": 5, "tf_op": hostile}], name="bfc").replace(b"bfc", b"b\xffc")
        with folder({"s/h.xplane.pb": data}) as root, Server(logdir=root) as server:
            memory = self.ask(server=server, session="s")["hosts"][0]["memories"][0]
            self.assertEqual(memory["memory_id"], "b\ufffdc")
            self.assertEqual(self.ask("/timeline", server, session="s", memory_id="b\ufffdc")["heap_max"], [5])
            self.assertEqual(len(self.events(server, session="s")), 1)

    def test_replies_are_kept_and_named(self):
        for endpoint in ("", "/timeline", "/events", "/modules"):
            first = self.server.get(API + endpoint, {"session": "tf_leak"})
            again = self.server.get(API + endpoint, {"session": "tf_leak"},
                                    {"If-None-Match": first.headers["ETag"], "Accept-Encoding": "identity"})
            self.assertEqual((again.status, again.body), (304, b""))

    def test_a_replaced_file_is_read_anew(self):
        one, two = made([{"bytes_allocated": 5}]), made([{"bytes_allocated": 6}, {"bytes_allocated": 7}])
        with folder({"s/h.xplane.pb": one}) as root, Server(logdir=root) as server:
            self.assertEqual(self.ask("/timeline", server, session="s")["heap_max"], [5])
            (root / "plugins/profile/s/h.xplane.pb").write_bytes(two)
            self.assertEqual(self.ask("/timeline", server, session="s")["heap_max"], [6, 7])
            self.assertEqual(self.ask(server=server, session="s")["hosts"][0]["events"], 2)


if __name__ == "__main__":
    unittest.main()
