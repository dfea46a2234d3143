"""`hbmview report` of sessions of many hosts."""
import pathlib
import re
import sys
import unittest

from hbmview_command import hbmview

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from log_folders import folder, xplane  # noqa: E402
from pod import device_memory, holds_more, holds_more_arrays, host_name, pod  # noqa: E402
from server_fixture import Server  # noqa: E402

HOSTS = 256


class Variants(unittest.TestCase):
    def setUp(self):
        changed = {17: xplane("v5e_gpt_scan")}  # the same name, another program
        self.root = self.enterContext(folder(pod("pod", xplane("v5e_gpt_4layer"), HOSTS, changed)))

    def test_one_line_for_a_program_and_its_variants_below(self):
        text = hbmview("report", self.root).out
        table = [line for line in text.splitlines() if "HBM " in line]
        self.assertEqual(len(table), 1, text)
        self.assertRegex(table[0], r"host-017 +jit_train_step\(1\) +HBM +6\.86 GiB")
        words = " ".join(text.split())
        self.assertIn("jit_train_step(1) is compiled in 2 variants: 1 host (host-017) with 6.86 GiB at the peak, "
                      "255 hosts (host-000 +254) with 500.51 MiB at the peak.", words)

    def test_json_has_both_in_one_family(self):
        modules = hbmview("report", self.root, "--format=json", "--top=1").json()["modules"]
        self.assertEqual([(len(one.get("hosts", [one["host"]])), one["family"]) for one in modules],
                         [(255, 0), (1, 0)])


class Across(unittest.TestCase):
    MEMORY, OP = "bfc_cpu_allocator_for_gpu", "Held/MatMul"

    def root_of(self, hosts, changed=()):
        data = xplane("tf_two_allocators")
        more = holds_more(data, self.OP, 2 << 30, self.MEMORY)
        changes = {17: more, **dict(changed)} if hosts > 17 else dict(changed)
        return self.enterContext(folder(pod("pod", data, hosts, changes)))

    def report(self, root, *options):
        return hbmview("report", root, "--tool=memory_profile", *options)

    def told(self, text):
        """The hosts that have details."""
        return sorted(set(re.findall(r"^pod / (host-\d+), ", text, re.MULTILINE)))

    def test_who_differs_stands_before_the_hosts(self):
        text = self.report(self.root_of(HOSTS)).out
        self.assertTrue(text.startswith(f"Across {HOSTS} hosts: pod\n"), text[:200])
        self.assertRegex(text, r"for_gpu +3\.00 MiB +host-000 +3\.00 MiB +2\.00 GiB +host-017 +1 of 256")
        words = " ".join(text.split())
        self.assertIn(f"- host-017, {self.MEMORY}: 2.00 GiB at the peak in step 0, 2.00 GiB more than host-000 at the "
                      f"median (3.00 MiB): {self.OP} holds 2.00 GiB here, nothing there", words)
        self.assertIn("Told here: 2 of 256 hosts, those that hold most and those that differ most. "
                      "--host=NAME tells another.", words)
        self.assertEqual(self.told(text), ["host-000", "host-017"])
        self.assertNotIn("host-016", text)

    def test_another_host_is_told_when_it_is_asked_for(self):
        text = self.report(self.root_of(20), "--host=host-003").out
        self.assertEqual(self.told(text), ["host-003"])
        self.assertNotIn("Across", text)

    def test_few_hosts_are_all_told(self):
        text = self.report(self.root_of(8)).out
        self.assertEqual(self.told(text), [f"host-{i:03}" for i in range(8)])
        self.assertIn("None differs from its median by more than a hundredth.", text)
        self.assertNotIn("Told here", text)
        nine = self.report(self.root_of(9)).out
        self.assertEqual(self.told(nine), ["host-000"])
        self.assertIn("Told here: 1 of 9 hosts", nine)

    def test_no_more_are_told_than_there_is_room_for(self):
        data = xplane("tf_two_allocators")
        changed = {i: holds_more(data, self.OP, i << 30, self.MEMORY) for i in range(1, 11)}
        text = self.report(self.root_of(30, changed), "--top=3").out
        self.assertEqual(self.told(text), ["host-000"] + [f"host-{i:03}" for i in range(4, 11)])
        words = " ".join(text.split())
        self.assertEqual(re.findall(r"- (host-\d+), \w+: ", words), ["host-010", "host-009", "host-008"])
        self.assertIn("8 more differ by less: --top.", words)

    def test_json_is_the_endpoints_document(self):
        root = self.root_of(20, {3: b"\x0a\xff\xff"})
        ended = self.report(root, "--format=json")
        self.assertEqual(ended.code, 3)
        [session] = ended.json()["sessions"]
        self.assertEqual(len(session["hosts"]), 20)
        with Server(logdir=root) as server:
            while True:
                wanted = server.get("/api/v1/memory_profile/across", {"session": "pod"}).json()
                if wanted.pop("complete"):
                    break
        self.assertTrue(session["across"].pop("complete"))
        del wanted["session"]
        own, theirs = (one.pop("unreadable") for one in (session["across"], wanted))
        self.assertEqual([one["host"] for one in own], [one["host"] for one in theirs])
        self.assertEqual(session["across"], wanted)
        [kind] = [one for one in wanted["kinds"] if one["kind"] == self.MEMORY]
        self.assertEqual((kind["lowest_host"], kind["highest_host"]), ("host-000", "host-017"))

    def test_only_the_memory_that_is_asked_for(self):
        ended = self.report(self.root_of(3), f"--memory-id={self.MEMORY}", "--format=json")
        [session] = ended.json()["sessions"]
        self.assertEqual([one["kind"] for one in session["across"]["kinds"]], [self.MEMORY])

    def test_a_host_that_cannot_be_read_is_said(self):
        text = self.report(self.root_of(3, {1: b"\x0a\xff\xff"})).out
        self.assertIn("1 host could not be read, or not to the end: host-001.", " ".join(text.split()))

    def test_one_host_is_not_compared(self):
        root = self.root_of(1)
        self.assertNotIn("Across", self.report(root).out)
        self.assertNotIn("across", self.report(root, "--format=json").json()["sessions"][0])


class DeviceMemory(unittest.TestCase):
    def root_of(self, files):
        data = device_memory("two_devices.memory.prof")
        more = holds_more_arrays(data, 3 << 30)
        return self.enterContext(folder({f"pod/{host_name(i)}.memory.prof": more if i == 2 else data
                                         for i in range(files)}))

    def test_files_are_compared_before_they_are_told(self):
        text = hbmview("report", self.root_of(5)).out
        self.assertRegex(text, r"cpu:\* +512\.00 KiB +host-000 +512\.00 KiB +3\.00 GiB +host-002 +5 of 10")
        self.assertIn("- host-002.memory.prof, cpu:0: 3.00 GiB at the peak", text)
        self.assertLess(text.index("Across 5 files: pod"), text.index("Device memory: pod / host-000.memory.prof"))
        self.assertEqual(text.count("Device memory: pod / "), 5)

    def test_of_many_those_that_differ_are_told(self):
        text = hbmview("report", self.root_of(40)).out
        self.assertIn("Device memory: pod / host-002.memory.prof", text)
        self.assertEqual(text.count("Device memory: pod / "), 8)
        self.assertIn("Told here: 8 of 40 files", text)
        self.assertIn("Give the path of another to see it.", " ".join(text.split()))

    def test_json_has_all_and_who_differs(self):
        told = hbmview("report", self.root_of(12), "--format=json").json()
        self.assertEqual(len(told["device_memory"]), 12)
        [across] = told["device_memory_across"]
        self.assertEqual((across["session"], across["hosts"], across["complete"]), ("pod", 12, True))
        self.assertRegex(across["differing"][0]["text"], r"^host-002\.memory\.prof, cpu:0: 3\.00 GiB")


if __name__ == "__main__":
    unittest.main()
