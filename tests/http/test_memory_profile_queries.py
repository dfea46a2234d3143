"""Who holds memory: breakdown, ops, steps, held, pressure, findings, on real profiles, against their events."""
import collections
import gzip
import json
import unittest

from server_fixture import FIXTURES, ServedCase

SESSIONS = ("tf_leak", "tf_oom", "tf_tiny", "tf_two_hosts", "tf_inference_no_steps", "tf_bfc_and_mklcpu",
            "tf_two_allocators")
SITE = ("op", "region_type", "data_type", "shape", "requested_bytes", "allocated_bytes")
MIB = 1 << 20


class Queries(ServedCase):
    def ask(self, endpoint, **query):
        answer = self.server.get(f"/api/v1/memory_profile/{endpoint}", query)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def memories(self):
        for session in SESSIONS:
            for host in self.server.overview(session).json()["hosts"]:
                for memory in host["memories"]:
                    yield {"session": session, "host": host["host"], "memory_id": memory["memory_id"]}

    def events(self, memory):
        """One dict for each event, in order."""
        reply = self.ask("events", **memory, limit=10000)
        self.assertEqual(reply["total"], len(reply["row"]))
        texts = {"op", "region_type", "data_type", "shape"}
        columns = {key: column for key, column in reply.items() if isinstance(column, list) and key != "strings"}
        return [{key: reply["strings"][column[i]] if key in texts else column[i] for key, column in columns.items()}
                for i in range(reply["total"])]

    @staticmethod
    def alive(events, row):
        return [e for e in events[:row + 1] if not e["is_free"] and not 0 <= e["partner_row"] <= row]

    @staticmethod
    def held_bytes(event):
        return event["allocated_bytes"] or event["requested_bytes"]

    def rows_of(self, breakdown):
        rows, strings = breakdown["rows"], breakdown["strings"]
        texts = {"op", "region_type", "data_type", "shape"}
        sites = zip(*([strings[i] for i in rows[key]] if key in texts else rows[key] for key in SITE))
        return dict(zip(sites, rows["occurrences"]))

    def check_breakdown(self, breakdown, events):
        row = breakdown["row"]
        expected = collections.Counter(tuple(e[key] for key in SITE) for e in self.alive(events, row))
        self.assertEqual(self.rows_of(breakdown), dict(expected))
        self.assertEqual(sum(breakdown["rows"]["total_bytes"]) + breakdown["unexplained_bytes"],
                         breakdown["heap_bytes"])
        self.assertEqual(breakdown["explained_bytes"], sum(map(self.held_bytes, self.alive(events, row))))
        self.assertEqual(breakdown["rows"]["total_bytes"], sorted(breakdown["rows"]["total_bytes"], reverse=True))
        if breakdown["heap_is_told"]:
            self.assertEqual(breakdown["heap_bytes"], events[row]["heap_bytes"])

    def test_breakdown_is_what_is_alive_at_any_event(self):
        seen = 0
        for memory in self.memories():
            events = self.events(memory)
            for row in range(0, len(events), max(1, len(events) // 12)):
                self.check_breakdown(self.ask("breakdown", **memory, row=row), events)
                seen += 1
        self.assertGreater(seen, 60)

    def test_breakdown_at_a_time_is_that_of_the_last_event_before(self):
        memory = {"session": "tf_leak"}
        events = self.events(memory)
        self.assertEqual(self.ask("breakdown", **memory, time_ps=events[40]["time_ps"])["row"], 40)
        self.assertEqual(self.ask("breakdown", **memory, time_ps=events[40]["time_ps"] - 1)["row"], 39)
        self.assertEqual(self.ask("breakdown", **memory, time_ps=0)["row"], 0)
        self.assertEqual(self.ask("breakdown", **memory, time_ps=10 ** 18)["row"], len(events) - 1)

    def test_breakdown_is_at_the_first_peak_unless_told_otherwise(self):
        for memory in self.memories():
            events = self.events(memory)
            breakdown = self.ask("breakdown", **memory)
            self.assertTrue(breakdown["is_peak"])
            self.check_breakdown(breakdown, events)
            if not breakdown["heap_is_told"]:
                continue
            used = [e["heap_bytes"] + e["stack_bytes"] for e in events]
            self.assertEqual(breakdown["row"], used.index(max(used)), memory)

    def test_xprof_shows_as_many_rows_as_we_say(self):
        """Its recorded answers; where its peak is a later one of equal ones, it shows that step."""
        seen = 0
        for memory in self.memories():
            golden = FIXTURES / "xprof_golden" / f"memory_profile__{memory['session']}__{memory['host']}.json.gz"
            if not golden.exists():
                continue
            theirs = json.loads(gzip.decompress(golden.read_bytes()))["memoryProfilePerAllocator"]
            theirs = theirs[memory["memory_id"]]
            breakdown = self.ask("breakdown", **memory)
            if int(theirs["profileSummary"]["peakStatsTimePs"]) != breakdown["time_ps"]:
                self.assertTrue("last of equal ones" in breakdown["xprof"]["note"] or not breakdown["heap_is_told"])
                continue
            rows = [row for row in theirs["activeAllocations"] if int(row["snapshotIndex"]) >= 0]
            self.assertEqual(breakdown["xprof"]["rows"], len(rows), memory)
            seen += 1
        self.assertGreater(seen, 3)

    def test_ops_are_sums_over_events(self):
        for memory in self.memories():
            events = self.events(memory)
            reply = self.ask("ops", **memory)
            ops, strings = reply["ops"], reply["strings"]
            allocations = [e for e in events if not e["is_free"]]
            names = [strings[i] for i in ops["op"]]
            self.assertEqual(sorted(names), sorted({e["op"] for e in allocations}))
            for i, name in enumerate(names):
                mine = [e for e in allocations if e["op"] == name]
                freed = [e for e in mine if e["partner_row"] >= 0]
                lifetimes = sorted(events[e["partner_row"]]["time_ps"] - e["time_ps"] for e in freed)
                held = sum(self.held_bytes(e) for e in mine if e["partner_row"] < 0)
                self.assertEqual(
                    (ops["allocations"][i], ops["frees"][i], ops["held_bytes"][i], ops["median_lifetime_ps"][i],
                     ops["largest_bytes"][i], ops["requested_bytes"][i], ops["allocated_bytes"][i]),
                    (len(mine), len(freed), held, lifetimes[(len(freed) - 1) // 2] if freed else -1,
                     max(map(self.held_bytes, mine)), sum(e["requested_bytes"] for e in mine),
                     sum(e["allocated_bytes"] for e in mine)), (memory, name))
            self.assertEqual(reply["allocations"], len(allocations))
            self.assertEqual(reply["frees"], len(events) - len(allocations))
            self.check_histograms(reply, allocations, events)

    def check_histograms(self, reply, allocations, events):
        for key, unit, values in (
                ("sizes", "bytes", [(self.held_bytes(e), e) for e in allocations]),
                ("lifetimes", "ps", [(events[e["partner_row"]]["time_ps"] - e["time_ps"], e) for e in allocations
                                     if e["partner_row"] >= 0])):
            ranges = reply[key]
            for i, (low, high) in enumerate(zip(ranges[f"from_{unit}"], ranges[f"to_{unit}"])):
                inside = [e for value, e in values if low <= value < high]
                self.assertEqual(ranges["count"][i], len(inside))
                self.assertEqual(ranges["bytes"][i], sum(map(self.held_bytes, inside)))
            self.assertEqual(sum(ranges["count"]), len(values))
        self.assertEqual(reply["never_freed"]["count"], sum(e["partner_row"] < 0 for e in allocations))

    def test_steps_say_what_each_op_holds_at_their_ends(self):
        for memory in self.memories():
            events = self.events(memory)
            reply = self.ask("steps", **memory)
            steps, growth = reply["steps"], reply["growth"]
            self.assertEqual(steps["end_ps"], sorted(steps["end_ps"]))
            self.assertEqual(sum(steps["allocations"]) + sum(steps["frees"]), len(events))
            for i, end_ps in enumerate(steps["end_ps"]):
                alive = self.alive(events, sum(e["time_ps"] <= end_ps for e in events) - 1)
                by_op = collections.Counter()
                for event in alive:
                    by_op[event["op"]] += self.held_bytes(event)
                self.assertEqual(steps["held_bytes"][i], sum(by_op.values()))
                told = {reply["strings"][op]: held[i] for op, held in zip(growth["op"], growth["held_bytes"])}
                self.assertEqual({op: held for op, held in told.items() if held}, +by_op)

    def test_the_leak_is_named(self):
        """The program keeps x, y, the loss and a ReLU of [128, 2048] floats in each of its twelve steps."""
        reply = self.ask("steps", session="tf_leak")
        self.assertEqual(reply["steps"]["name"], [f"train {i}" for i in range(12)])
        verdict = reply["verdict"]
        self.assertTrue(verdict["leaks"])
        self.assertEqual((verdict["op"], verdict["slope_bytes"]), ("Relu", MIB))
        self.assertIn("Relu grew by 1.00 MiB in each of 11 steps: 12.00 MiB held at the end", verdict["text"])
        growth = reply["growth"]
        leaks = [reply["strings"][op] for op, is_leak in zip(growth["op"], growth["is_leak"]) if is_leak]
        self.assertEqual(leaks, ["Relu", "AddV2"])

    def test_nobody_else_is_blamed(self):
        for session in SESSIONS:
            verdict = self.ask("steps", session=session)["verdict"]
            self.assertEqual(verdict["leaks"], session == "tf_leak", (session, verdict))
            self.assertTrue(verdict["text"].endswith("."))

    def test_held_lists_the_allocations_behind_the_growth(self):
        memory = {"session": "tf_leak"}
        expected = [e["row"] for e in self.events(memory) if not e["is_free"] and e["partner_row"] < 0]
        every = self.ask("held", **memory)
        self.assertEqual(every["row"], expected)
        relu = self.ask("held", **memory, op="Relu")
        self.assertEqual((relu["total"], relu["total_bytes"], relu["step"]), (12, 12 * MIB, list(range(12))))
        page = self.ask("held", **memory, op="Relu", offset=5, limit=3)
        self.assertEqual((page["total"], page["row"]), (12, relu["row"][5:8]))
        self.assertEqual(self.ask("held", **memory, op="no such op")["total"], 0)

    def test_failed_requests_are_said(self):
        """The program asks for 20, 24, 28 and 32 MiB in a memory of 96 MiB; each time TensorFlow tries for 10 s."""
        reply = self.ask("pressure", session="tf_oom")
        self.assertEqual(reply["state"], "failed")
        self.assertEqual([moment["step"] for moment in reply["moments"]], [4, 5, 6, 7])
        self.assertEqual({moment["kind"] for moment in reply["moments"]}, {"stall"})
        for moment, asked_mib in zip(reply["moments"], (20, 24, 28, 32)):
            self.assertFalse(moment["request_is_known"])
            self.assertLess(moment["request_bytes"], asked_mib * MIB)
            self.assertAlmostEqual((moment["until_ps"] - moment["time_ps"]) / 1e12, 10, delta=0.01)
        self.assertEqual(reply["moments"][0]["text"],
                         'At 278 ms (step 4, "train 4") the allocator stalled for 10.0 s with 54.00 MiB free, '
                         "16.00 MiB of it in one piece: a request above 16.00 MiB failed here.")
        self.assertEqual(reply["text"], reply["moments"][0]["text"] + " It happened 4 times in all.")

    def test_nothing_failed_elsewhere(self):
        for memory in self.memories():
            reply = self.ask("pressure", **memory)
            is_plain = memory["memory_id"] == "cpu"
            expected = "failed" if memory["session"] == "tf_oom" else "unknown" if is_plain else "roomy"
            self.assertEqual(reply["state"], expected, (memory, reply["text"]))
            if expected == "roomy":
                self.assertEqual(reply["moments"], [])
                largest = [e["free_bytes"] * (1 - (e["fragmentation"] or 0)) for e in self.events(memory)]
                self.assertAlmostEqual(reply["tightest"]["largest_free_bytes"], min(largest), delta=1)

    def findings(self, session):
        return {one["kind"]: one for one in self.ask("findings", session=session)["findings"]}

    def test_findings_say_what_was_written_and_lead_to_it(self):
        oom, leak = self.findings("tf_oom"), self.findings("tf_leak")
        self.assertEqual(oom["failed"]["text"], "4 requests above 16.00 MiB failed, the first at 278 ms (step 4)")
        stall = self.ask("pressure", session="tf_oom")["moments"][0]
        self.assertEqual((oom["failed"]["row"], oom["failed"]["time_ps"]), (stall["row"], stall["time_ps"]))
        self.assertLess(oom["failed"]["from_ps"], stall["time_ps"])
        self.assertGreater(oom["failed"]["to_ps"], stall["until_ps"])
        self.assertEqual(leak["leak"]["text"], "Relu grew by 1.00 MiB in each of 11 steps, and 1 more op grows")
        self.assertNotIn("failed", leak)
        holder = leak["holder"]
        self.assertEqual((holder["op"], holder["bytes"], holder["count"]), ("Relu", 11 * MIB, 11))

    def test_findings_are_in_order_of_weight_and_name_events(self):
        weight = "failed pieces tight leak peak holder unseen peak_fragmented rounded".split()
        for memory in self.memories():
            findings = self.ask("findings", **memory)["findings"]
            places = [weight.index(one["kind"]) for one in findings]
            self.assertEqual(places, sorted(set(places)), memory)
            for one in findings:
                event = self.ask("events", **memory, row=one["row"])
                self.assertEqual(event["time_ps"], [one["time_ps"]], (memory, one))

    def test_silences_hold_no_event(self):
        for memory in self.memories():
            hosts = self.server.overview(memory["session"]).json()["hosts"]
            host = next(one for one in hosts if one["host"] == memory["host"])
            told = next(one for one in host["memories"] if one["memory_id"] == memory["memory_id"])["silences"]
            times = [event["time_ps"] for event in self.events(memory)]
            gaps = list(zip(told["begin_ps"], told["end_ps"]))
            self.assertEqual(gaps, [gap for gap in zip(times, times[1:]) if gap in set(gaps)])
            longest = sorted((end - begin for begin, end in zip(times, times[1:])), reverse=True)[:len(gaps)]
            self.assertEqual(sorted((end - begin for begin, end in gaps), reverse=True), longest)

    def test_bad_questions(self):
        for endpoint, query, status, words in (
                ("breakdown", {"row": -1}, 404, "row -1"), ("breakdown", {"row": 67}, 404, "67 events"),
                ("breakdown", {"row": "x"}, 400, "row"), ("breakdown", {"time_ps": "now"}, 400, "time_ps"),
                ("ops", {"memory_id": "nope"}, 404, "bfc_cpu_allocator_for_gpu"),
                ("steps", {"host": "nope"}, 404, "nope"), ("held", {"limit": -1}, 400, "limit"),
                ("pressure", {"session": "nope"}, 404, "nope")):
            answer = self.server.get(f"/api/v1/memory_profile/{endpoint}", {"session": "tf_oom", **query})
            self.assertEqual(answer.status, status, (endpoint, query, answer))
            self.assertIn(words, answer.json()["error"]["message"])

    def test_the_same_question_has_the_same_answer(self):
        for endpoint in ("breakdown", "ops", "steps", "held", "pressure", "findings"):
            first = self.server.get(f"/api/v1/memory_profile/{endpoint}", {"session": "tf_leak"})
            again = self.server.get(f"/api/v1/memory_profile/{endpoint}", {"session": "tf_leak"})
            self.assertEqual((first.raw, first.headers["ETag"]), (again.raw, again.headers["ETag"]))


if __name__ == "__main__":
    unittest.main()
