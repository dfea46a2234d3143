"""`hbmview report --tool memory_profile`: its figures against those that XProf recorded and against the programs that
were profiled, and as a user and a script see it: formats, filters, the check for CI, exit codes, broken inputs."""
import csv
import gzip
import io
import json
import pathlib
import shutil
import tempfile
import unittest

from hbmview_command import FIXTURES, PROFILES, hbmview

LOGDIR = FIXTURES / "logdir"
LEAK, OOM, TINY, TWO_HOSTS = (PROFILES / name for name in ("tf_leak", "tf_oom", "tf_tiny", "tf_two_hosts"))
GOOD, FAILED, USAGE, UNREADABLE = 0, 1, 2, 3
MIB = 1 << 20


def goldens():
    """(session, host, memory id, what XProf answered) of the real profiles."""
    for path in sorted((FIXTURES / "xprof_golden").glob("memory_profile__tf_*.json.gz")):
        _, session, host = path.name.removesuffix(".json.gz").split("__")
        answer = json.loads(gzip.decompress(path.read_bytes()))
        for memory_id, memory in answer.get("memoryProfilePerAllocator", {}).items():
            yield session, host, memory_id, memory


def profile(session):
    return gzip.decompress(next(session.glob("*.xplane.pb.gz")).read_bytes())


class ReportTest(unittest.TestCase):
    def report(self, *arguments, code=GOOD, **how):
        done = hbmview("report", *arguments, "--tool=memory_profile", **how)
        self.assertEqual(done.code, code, done)
        if code == GOOD:
            self.assertEqual(done.errors, "")
        return done

    def memories(self, *arguments):
        """{(session, host, memory id): memory}"""
        document = self.report(*arguments, "--format=json").json()
        return {(session["session"], host["host"], memory["memory_id"]): memory
                for session in document["sessions"] for host in session["hosts"] for memory in host["memories"]}

    def folder(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)


class Oracle(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.goldens = list(goldens())
        assert len(cls.goldens) >= 10, cls.goldens

    def setUp(self):
        self.ours = self.memories(LOGDIR)

    def test_peaks_are_those_of_xprof(self):
        compared = 0
        for session, host, memory_id, theirs in self.goldens:
            summary, ours = theirs["profileSummary"], self.ours[session, host, memory_id]["overview"]
            stats = summary["peakStats"]
            if ours["peak_bytes"] == 0:
                self.assertEqual(summary["memoryCapacity"], "0")
                continue
            with self.subTest(session=session, memory_id=memory_id):
                at_peak = ours["at_peak"]
                self.assertEqual(ours["capacity_bytes"], int(summary["memoryCapacity"]))
                self.assertEqual(at_peak["heap_bytes"], int(stats["heapAllocatedBytes"]))
                self.assertEqual(at_peak["stack_bytes"], int(stats["stackReservedBytes"]))
                self.assertEqual(at_peak["free_bytes"], int(stats["freeMemoryBytes"]))
                self.assertEqual(ours["xprof"]["peak_ps"], int(summary["peakStatsTimePs"]))
                self.assertGreaterEqual(ours["lifetime_peak_bytes"], int(summary["peakBytesUsageLifetime"]))
                if ours["peak_ps"] == int(summary["peakStatsTimePs"]):  # else equal peaks: XProf's is the last
                    self.assertAlmostEqual(at_peak["fragmentation"], stats["fragmentation"], places=5)
                compared += 1
        self.assertGreaterEqual(compared, 8)

    def test_counts_are_those_of_xprof_where_it_did_not_sample(self):
        compared = 0
        for session, host, memory_id, theirs in self.goldens:
            ours = self.ours[session, host, memory_id]["overview"]
            kinds = [event["activityMetadata"]["memoryActivity"] for event in theirs["sampledTimelineSnapshots"]]
            if ours["xprof"]["sampled"]:
                continue
            with self.subTest(session=session, memory_id=memory_id):
                self.assertEqual(ours["allocations"], kinds.count("ALLOCATION"))
                self.assertEqual(ours["frees"], kinds.count("DEALLOCATION"))
                compared += 1
        self.assertGreaterEqual(compared, 8)

    def test_rows_at_the_peak_hold_those_of_xprof(self):
        keys = {"tfOpName": "op", "regionType": "region_type", "dataType": "data_type", "tensorShape": "shape"}
        compared = 0
        for session, host, memory_id, theirs in self.goldens:
            breakdown = self.ours[session, host, memory_id]["breakdown"]
            if breakdown["time_ps"] != int(theirs["profileSummary"]["peakStatsTimePs"]):
                continue
            ours = {(*(row[key] for key in keys.values()), row["requested_bytes"], row["allocated_bytes"]):
                    row["occurrences"] for row in breakdown["rows"]}
            for active in theirs["activeAllocations"]:
                if int(active["snapshotIndex"]) < 0:
                    continue  # the special row: no allocation
                told = theirs["memoryProfileSnapshots"][int(active["snapshotIndex"])]["activityMetadata"]
                site = (*(told[key] for key in keys), int(told["requestedBytes"]), int(told["allocationBytes"]))
                # XProf counts the allocations of the peak's step only, ours are all.
                self.assertGreaterEqual(ours.get(site, 0), int(active["numOccurrences"]), (session, site))
                compared += 1
        self.assertGreaterEqual(compared, 30)

    def test_rows_and_the_unexplained_rest_sum_to_the_heap(self):
        for name, memory in self.ours.items():
            breakdown = memory["breakdown"]
            total = sum(row["total_bytes"] for row in breakdown["rows"])
            with self.subTest(memory=name):
                self.assertEqual(total, breakdown["explained_bytes"])
                self.assertEqual(total + breakdown["unexplained_bytes"], breakdown["heap_bytes"])
                self.assertEqual((breakdown["rows_left_out"], breakdown["left_out_bytes"]), (0, 0))

    def test_the_leak_is_the_one_that_was_written(self):
        # tf_leak keeps relu(x [128,256] @ ones [256,2048]) of each of its 12 steps: 1 MiB of float32 a step.
        [memory] = self.memories(LEAK).values()
        self.assertEqual((memory["verdict"]["leaks"], memory["verdict"]["op"]), (True, "Relu"))
        self.assertEqual(memory["verdict"]["slope_bytes"], MIB)
        self.assertEqual(memory["growth"]["ops"][0]["held_at_end_bytes"], 12 * MIB)
        self.assertIn("Relu grew by 1.00 MiB in each of 11 steps", self.report(LEAK).out)
        for calm in (TINY, OOM):
            [memory] = self.memories(calm).values()
            self.assertEqual((memory["verdict"]["leaks"], memory["verdict"]["op"]), (False, None))

    def test_the_failing_requests_are_said(self):
        # tf_oom asks for 4 MiB x (step + 1) of a 96 MiB pool and catches what fails, from step 4 on.
        [memory] = self.memories(OOM).values()
        self.assertEqual(memory["pressure"]["state"], "failed")
        self.assertEqual([moment["step"] for moment in memory["pressure"]["moments"]], [4, 5, 6, 7])
        self.assertRegex(self.report(OOM).out, r"allocator\s+stalled\s+for\s+10\.0\s+s")


    def test_findings_come_first_in_text_and_are_in_the_json(self):
        [memory] = self.memories(OOM).values()
        findings = {one["kind"]: one for one in memory["findings"]}
        self.assertEqual(findings["failed"]["count"], 4)
        self.assertEqual(findings["failed"]["bytes"], min(m["request_bytes"] for m in memory["pressure"]["moments"]))
        self.assertEqual(findings["peak"]["bytes"], memory["overview"]["peak_bytes"])
        words = " ".join(self.report(OOM).out.split())
        first, figures = "- 4 requests above 16.00 MiB failed, the first at 278 ms (step 4) -", "Peak 74.00 MiB"
        self.assertLess(words.index(first), words.index(figures))


class Text(ReportTest):
    def test_every_memory_of_one_session(self):
        out = self.report(TWO_HOSTS).out
        for host in ("worker0", "worker1"):
            self.assertIn(f"tf_two_hosts / {host}, bfc_cpu_allocator_for_gpu\n", out)
        self.assertEqual(out.count("What filled the heap at the peak"), 2)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_of_several_sessions_the_highest_peak_in_detail(self):
        out = self.report(LOGDIR).out
        highest = max((int(memory["profileSummary"]["peakStats"]["heapAllocatedBytes"]), session)
                      for session, _, _, memory in goldens())[1]
        self.assertEqual(out.count("What filled the heap at the peak"), 1)
        self.assertIn(f"{highest} / vm, bfc_cpu_allocator_for_gpu: the highest peak", out)
        table = out.split("\n\n")[0]
        self.assertEqual(len(table.splitlines()) - 1, len(self.memories(LOGDIR)))

    def test_the_table_at_the_peak_adds_up(self):
        out = self.report(OOM, "--top=2").out
        self.assertRegex(out, r"\n *\d+\.\d\d MiB +\d+\.\d% +\(\d+ more rows\)\n")
        self.assertRegex(out, r"\n74\.00 MiB +100\.0% +heap\n")
        self.assertIn("(--top N for more)", out)
        self.assertNotIn("more row", self.report(OOM).out)

    def test_without_events_it_says_why_and_what_to_do(self):
        for session in ("jax_cpu_mlp", "tf_no_memory_events"):
            with self.subTest(session=session):
                out = " ".join(self.report(PROFILES / session).out.split())
                self.assertIn("no MemoryAllocation and no MemoryDeallocation event", out)
                self.assertIn("host_tracer_level", out)
        [session] = self.report(PROFILES / "jax_cpu_mlp", "--format=json").json()["sessions"]
        [host] = session["hosts"]
        self.assertEqual((host["state"], host["memories"], host["error"]), ("no_events", [], None))
        self.assertTrue(host["reason"] and host["advice"])

    def test_an_allocator_that_tells_nothing(self):
        out = self.report(PROFILES / "tf_two_allocators", "--memory-id=cpu").out
        self.assertIn("The peak is not known", out)
        self.assertRegex(out, r"\ncpu +not told +32 B\n")

    def test_markdown_is_tables(self):
        out = self.report(OOM, "--format=markdown").out
        self.assertIn("### tf_oom / vm, bfc_cpu_allocator_for_gpu\n", out.replace("\\", ""))
        self.assertRegex(out, r"\n\| 74\.00 MiB \| 100\.0% \|")


class Csv(ReportTest):
    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.report(*arguments, "--format=csv").out)))

    def test_rows_of_a_memory_sum_to_its_heap(self):
        for top in ((), ("--top=2",)):
            sums = {}
            for row in self.rows(LOGDIR, *top):
                name = row["session"], row["host"], row["memory_id"]
                sums[name] = sums.get(name, 0) + int(row["total_bytes"])
            heaps = {tuple(name): int(theirs["profileSummary"]["peakStats"]["heapAllocatedBytes"])
                     for *name, theirs in goldens() if theirs["profileSummary"]["memoryCapacity"] != "0"}
            self.assertGreaterEqual(len(heaps), 8)
            self.assertEqual({name: sums.get(name) for name in heaps}, heaps)

    def test_kinds(self):
        kinds = [row["kind"] for row in self.rows(TWO_HOSTS, "--top=2", "--host=worker0")]
        self.assertEqual(kinds, ["allocations"] * 2 + ["left_out", "unexplained"])


class Filters(ReportTest):
    def test_host_and_memory_id(self):
        self.assertEqual({name[1] for name in self.memories(TWO_HOSTS, "--host=worker1")}, {"worker1"})
        two = PROFILES / "tf_two_allocators"
        self.assertEqual({name[2] for name in self.memories(two, "--memory_id=cpu")}, {"cpu"})
        self.assertEqual(len(self.memories(two)), 2)

    def test_top(self):
        [memory] = self.memories(LEAK, "--top=2").values()
        self.assertEqual((len(memory["breakdown"]["rows"]), len(memory["growth"]["ops"])), (2, 2))
        self.assertGreater(memory["breakdown"]["left_out_bytes"], 0)
        held = sum(row["total_bytes"] for row in memory["breakdown"]["rows"])
        self.assertEqual(held + memory["breakdown"]["left_out_bytes"], memory["breakdown"]["explained_bytes"])

    def test_what_is_not_there_is_3_and_says_what_is(self):
        for flag, known in (("--host=nobody", "worker0"), ("--memory-id=HBM", "bfc_cpu_allocator_for_gpu"),
                            ("--session=none", "tf_two_hosts")):
            with self.subTest(flag=flag):
                done = self.report(TWO_HOSTS, flag, code=UNREADABLE)
                self.assertRegex(done.errors, r"\Ahbmview: There is no .*\n\Z")
                self.assertIn(known, done.errors)

    def test_usage(self):
        for arguments in (["--module=jit_f"], ["--memory-space=HBM"], ["--fail-over=many"], ["--fail-over=-1"],
                          ["--fail-over=5XB"], ["--fail-over=0"], ["--fail-over=1e99"], ["--fail-over=99999999TiB"]):
            with self.subTest(arguments=arguments):
                done = self.report(LEAK, *arguments, code=USAGE)
                self.assertEqual(done.out, "")
                self.assertRegex(done.errors, r"\Ahbmview: .*\.\n\Z")
        for flag in ("--host=vm", "--memory-id=x"):
            done = hbmview("report", LEAK, flag)
            self.assertEqual((done.code, done.out), (USAGE, ""), flag)
            self.assertIn("memory_profile", done.errors)

    def test_tools(self):
        done = hbmview("report", LEAK, "--tool=trace_viewer")
        self.assertEqual(done.code, USAGE)
        self.assertRegex(done.errors, r"memory_viewer.*memory_profile")
        module = PROFILES / "v5e_matmul"
        for arguments in ((), ("--format=json",), ("--format=csv",)):
            self.assertEqual(hbmview("report", module, "--tool=memory_viewer", *arguments).out,
                             hbmview("report", module, *arguments).out)


class Check(ReportTest):
    """--fail-over against the peak that XProf tells."""

    def setUp(self):
        self.peak = next(int(theirs["profileSummary"]["peakStats"]["heapAllocatedBytes"])
                         for session, _, _, theirs in goldens() if session == "tf_oom")

    def test_the_peak_itself_is_good_and_a_byte_less_fails(self):
        for format in ("text", "json", "csv", "markdown"):
            with self.subTest(format=format):
                self.report(OOM, f"--format={format}", f"--fail-over={self.peak}")
                done = self.report(OOM, f"--format={format}", f"--fail-over={self.peak - 1}", code=FAILED)
                self.assertRegex(done.errors, r"\Ahbmview: tf_oom / vm / bfc_cpu_allocator_for_gpu: .* is above .*\n\Z")
                self.assertIn(str(self.peak), done.errors)
                self.assertTrue(done.out)

    def test_units(self):
        self.report(OOM, "--fail-over=74.1MiB")
        self.report(OOM, "--fail_over", "74 mib", code=FAILED)  # 256 bytes above it
        self.report(OOM, "--fail-over=0.5GiB")

    def test_json_says_which(self):
        document = json.loads(self.report(LOGDIR, "--format=json", "--fail-over=73MiB", code=FAILED).out)
        self.assertEqual(document["fail_over_bytes"], 73 * MIB)
        over = {session["session"]: memory["is_over"] for session in document["sessions"]
                for host in session["hosts"] for memory in host["memories"]}
        self.assertEqual([session for session in over if over[session]], ["tf_oom"])
        self.assertNotIn("is_over", next(iter(self.memories(OOM).values())))

    def test_nothing_to_compare_is_said(self):
        done = hbmview("report", PROFILES / "jax_cpu_mlp", "--tool=memory_profile", "--fail-over=1GiB")
        self.assertEqual(done.code, GOOD)
        self.assertRegex(done.errors, r"\Ahbmview: .*no peak is known.*\n\Z")


class Broken(ReportTest):
    def write(self, name, content):
        path = self.folder() / name
        path.write_bytes(content)
        return path

    def test_names_do_not_drive_the_terminal(self):
        content = profile(TINY).replace(b"bfc_cpu", b"\x1b[J_cpu")
        path = self.write("vm.xplane.pb", content)
        for format in ("text", "markdown"):
            done = self.report(path, f"--format={format}", "--fail-over=1B", code=FAILED)
            self.assertIn("\N{REPLACEMENT CHARACTER}", done.out)
            self.assertNotRegex(done.out + done.errors, r"[\x00-\x09\x0b-\x1f\x7f]")
        self.assertIn("\x1b[J_cpu_allocator_for_gpu", [name[2] for name in self.memories(path)])

    def test_a_file_that_was_cut_gives_what_is_there(self):
        content = profile(LEAK)
        path = self.write("vm.xplane.pb", content[:len(content) * 2 // 3])
        done = self.report(path, "--format=json", code=UNREADABLE)
        [host] = json.loads(done.out)["sessions"][0]["hosts"]
        self.assertEqual(host["error"]["code"], "truncated")
        self.assertIn("vm.xplane.pb", done.errors)
        self.assertEqual(self.report(path, "--fail-over=1B", code=UNREADABLE).errors.count("vm.xplane.pb"), 1)

    def test_a_broken_host_does_not_hide_its_neighbour(self):
        root = self.folder()
        shutil.copy(next(TWO_HOSTS.glob("worker0*")), root)
        (root / "worker1.xplane.pb").write_bytes(b"\xff" * 100)
        done = self.report(root, code=UNREADABLE)
        self.assertIn("/ worker0, bfc_cpu_allocator_for_gpu", done.out)
        self.assertRegex(done.errors, r"\Ahbmview: .*worker1\.xplane\.pb: .*\n\Z")

    def test_nothing_there(self):
        done = self.report(self.folder() / "missing", code=UNREADABLE)
        self.assertEqual(done.out, "")
        self.assertRegex(done.errors, r"\Ahbmview: .*\n\Z")
        self.report(self.folder(), code=UNREADABLE)


if __name__ == "__main__":
    unittest.main()
