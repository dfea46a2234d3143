"""/api/v1/session and /api/v1/devices: which tools have something to show, and what the devices have."""
import unittest

from log_folders import folder, xplane
from profile_build import Profile, Ref, Unsigned
from server_fixture import FIXTURES, ServedCase, Server

DEVICE_MEMORY = FIXTURES / "device_memory" / "two_devices.memory.prof"


def glance(server, session):
    answer = server.get("/api/v1/session", {"session": session})
    assert answer.status == 200, answer
    return answer.json()


def device_profile(*stats):
    """A file with one device plane for each of the given stats."""
    profile = Profile(has_host=False)
    for i, one in enumerate(stats):
        profile.plane(f"/device:X:{i}").stats = one
    return profile.bytes()


class Fixtures(ServedCase):
    def test_programs_or_allocator_events(self):
        for session, tools in (("v5e_matmul", ["memory_viewer", "compare"]), ("tf_tiny", ["memory_profile"]),
                               ("tf_two_hosts", ["memory_profile"])):
            self.assertEqual(glance(self.server, session)["tools"], tools, session)

    def test_it_agrees_with_what_the_tools_find(self):
        for session in self.server.get("/runs").json():
            seen = glance(self.server, session)
            modules = self.server.get("/api/v1/modules", {"session": session}).json()
            self.assertEqual(seen["programs"], len(modules["modules"]), session)
            self.assertEqual(seen["size_bytes"], sum(host["size_bytes"] for host in modules["hosts"]), session)
            memories = self.server.overview(session).json()["hosts"]
            has_events = any(memory["events"] for host in memories for memory in host["memories"])
            self.assertEqual("memory_profile" in seen["tools"], has_events, session)
            self.assertEqual("memory_viewer" in seen["tools"], bool(modules["modules"]), session)

    def test_an_unknown_session_is_said(self):
        answer = self.server.get("/api/v1/session", {"session": "nope"})
        self.assertEqual(answer.status, 404)
        self.assertIn("no session", answer.json()["error"]["message"])
        self.assertEqual(self.server.get("/api/v1/session").status, 400)

    def test_devices_that_people_name(self):
        devices = {d["name"]: d for d in self.server.get("/api/v1/devices").json()["devices"]}
        self.assertEqual(devices["TPU v5e"]["capacity"], "15.75GiB")
        self.assertEqual(devices["TPU v5e"]["capacity_bytes"], int(15.75 * 2**30))
        self.assertEqual(devices["H100"]["source"], "vendor")

    def test_a_capacity_may_be_a_device(self):
        query = {"session": "v5e_gpt_12layer_oom", "module": "jit_train_step(1)"}
        by_name = self.server.get("/api/v1/advise", {**query, "capacity": "v5e"})
        by_size = self.server.get("/api/v1/advise", {**query, "capacity": "15.75GiB"})
        self.assertEqual(by_name.json(), by_size.json())
        self.assertEqual(by_name.json()["capacity_bytes"], int(15.75 * 2**30))
        refused = self.server.get("/api/v1/advise", {**query, "capacity": "v5"})
        self.assertEqual(refused.status, 400)
        self.assertIn("or a device like v5e", refused.json()["error"]["message"])


class Made(unittest.TestCase):
    def devices(self, *stats):
        with folder({"s/vm.xplane.pb": device_profile(*stats)}) as root, Server(logdir=root) as server:
            return glance(server, "s")["devices"]

    def test_the_profile_says_what_a_device_has(self):
        four = self.devices(*[{"memory_size": Unsigned(16945512448)}] * 3, {"memory_size": Unsigned(1 << 30)})
        self.assertEqual([(d["plane"], d["count"], d["capacity_bytes"]) for d in four],
                         [("/device:X:0", 3, 16945512448), ("/device:X:3", 1, 1 << 30)])
        self.assertEqual({d["capacity_from"] for d in four}, {"memory_size"})
        self.assertEqual({d["host"] for d in four}, {"vm"})

    def test_the_profile_says_what_a_device_is(self):
        [lite] = self.devices({"device_type_string": Ref("TPU v5 Lite")})
        self.assertEqual((lite["type"], lite["name"], lite["capacity_bytes"], lite["capacity_from"]),
                         ("TPU v5 Lite", "TPU v5e", int(15.75 * 2**30), "device_type"))
        [unknown] = self.devices({"device_type_string": "TPU v99"})
        self.assertEqual((unknown["type"], unknown["name"], unknown["capacity_bytes"], unknown["capacity_from"]),
                         ("TPU v99", None, None, None))
        self.assertEqual(self.devices({"clock_rate": 5}), [])

    def test_absurd_figures_are_none(self):
        self.assertEqual(self.devices({"memory_size": Unsigned(2**64 - 1)}), [])
        self.assertEqual(self.devices({"device_type_string": "x" * 5000}), [])

    def test_broken_files_are_counted(self):
        whole = xplane("v5e_matmul")
        files = {"s/a.xplane.pb": whole, "s/b.xplane.pb": whole[: len(whole) // 2], "t/c.xplane.pb": b"<html>"}
        with folder(files) as root, Server(logdir=root) as server:
            self.assertEqual([glance(server, "s")[key] for key in ("files", "unreadable_files", "programs")], [2, 1, 1])
            self.assertEqual([glance(server, "t")[key] for key in ("unreadable_files", "tools")], [1, []])

    def test_device_memory_counts_wherever_it_lies(self):
        held = DEVICE_MEMORY.read_bytes()
        with folder({"s/vm.xplane.pb": xplane("tf_tiny"), "s/held.prof": held}) as root:
            (root / "alone.prof").write_bytes(held)
            with Server(logdir=root) as server:
                self.assertEqual(glance(server, "s")["tools"], ["memory_profile", "device_memory"])
                alone = glance(server, "alone.prof")
                self.assertEqual((alone["tools"], alone["size_bytes"]), (["device_memory"], len(held)))


if __name__ == "__main__":
    unittest.main()
