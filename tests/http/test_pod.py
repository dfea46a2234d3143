"""Sessions of many hosts: read side by side, told host by host."""
import threading
import time
import unittest

from bucket_server import BucketServer
from log_folders import folder, xplane
from pod import device_memory, holds_more, holds_more_arrays, host_name, pod
from server_fixture import Server
from test_storage import serve

HOSTS = 256
MODULE = "jit__lambda(1)"
TOGETHER = 8  # requests that must be under way at once
PATIENCE_S = 60
SLOW_S = 0.05  # that others are worth a thread


class Listing(unittest.TestCase):
    def check(self, modules):
        self.assertEqual([host["name"] for host in modules["hosts"]], [host_name(i) for i in range(HOSTS)])
        self.assertEqual([host["error"] for host in modules["hosts"]], [None] * HOSTS)
        self.assertEqual([(one["name"], len(one["hosts"])) for one in modules["modules"]], [(MODULE, HOSTS)])

    def test_every_host_is_listed_once(self):
        data = xplane("v5e_matmul")
        with folder(pod("pod", data, HOSTS)) as root, Server(logdir=root) as server:
            self.check(server.get("/api/v1/modules", {"session": "pod"}).json())
            session = server.get("/api/v1/session", {"session": "pod"}).json()
            self.assertEqual((session["files"], session["size_bytes"]), (HOSTS, HOSTS * len(data)))

    def test_a_host_that_is_damaged_hides_no_other(self):
        data = xplane("v5e_matmul")
        with folder(pod("pod", data, HOSTS, {17: b"\x0a\xff\xff", 200: data[:len(data) // 2]})) as root:
            with Server(logdir=root) as server:
                modules = server.get("/api/v1/modules", {"session": "pod"}).json()
        self.assertEqual([i for i, host in enumerate(modules["hosts"]) if host["error"]], [17, 200])
        self.assertEqual(len(modules["modules"][0]["hosts"]), HOSTS - 2)

    def test_hosts_in_a_bucket_are_read_side_by_side(self):
        """Beyond the first file, no range is answered before so many are asked for: one after the other would wait."""
        with folder(pod("pod", xplane("v5e_matmul"), HOSTS)) as root, BucketServer(root) as bucket:
            waiting, gate = [], threading.Condition()

            def together(request):
                if not request.headers.get("Range"):
                    return None
                if request.path.endswith(f"{host_name(0)}.xplane.pb"):
                    return time.sleep(SLOW_S)
                with gate:
                    waiting.append(request)
                    gate.notify_all()
                    gate.wait_for(lambda: len(waiting) >= TOGETHER, PATIENCE_S)
                return None if len(waiting) >= TOGETHER else (400, {}, b"one after the other")

            bucket.fault = together
            with serve(bucket, "s3") as server:
                self.check(server.get("/api/v1/modules", {"session": "pod"}).json())


class Across(unittest.TestCase):
    MEMORY = "bfc_cpu_allocator_for_gpu"
    OP = "gradient_tape/model/attention/MatMul"
    MORE = 2 << 30

    def ask(self, server, path="/api/v1/memory_profile/across"):
        """Until all hosts are read, which every answer brings nearer."""
        read = -1
        while True:
            told = server.get(path, {"session": "pod"}).json()
            self.assertEqual(told["complete"], told["read"] == told["hosts"])
            if told["complete"]:
                return told
            self.assertGreater(told["read"], read)
            read = told["read"]

    def memories(self, told):
        columns, strings = told["memories"], told["strings"]
        names = [(strings[host], strings[memory]) for host, memory in zip(columns["host"], columns["memory_id"])]
        return dict(zip(names, columns["peak_bytes"]))

    def test_the_host_that_holds_more_and_what_it_holds(self):
        data = xplane("tf_two_allocators")
        changed = {17: holds_more(data, self.OP, self.MORE, self.MEMORY)}
        with folder(pod("pod", data, HOSTS, changed)) as root, Server(logdir=root) as server:
            told = self.ask(server)
            usual = server.get("/api/v1/memory_profile/breakdown",
                               {"session": "pod", "host": host_name(0), "memory_id": self.MEMORY}).json()
            own = server.get("/api/v1/memory_profile/breakdown",
                             {"session": "pod", "host": host_name(17), "memory_id": self.MEMORY}).json()
        peaks = self.memories(told)
        self.assertEqual(len(peaks), 2 * HOSTS)
        self.assertEqual(peaks[host_name(0), self.MEMORY], usual["heap_bytes"])
        self.assertEqual(peaks[host_name(17), self.MEMORY], own["heap_bytes"])
        kind = next(one for one in told["kinds"] if one["kind"] == self.MEMORY)
        self.assertEqual((kind["memories"], kind["differing"], kind["median_host"], kind["median_bytes"]),
                         (HOSTS, 1, host_name(0), usual["heap_bytes"]))
        [differing] = told["differing"]
        self.assertEqual((differing["cause"], differing["name"], differing["bytes"], differing["median_bytes"]),
                         ("holder", self.OP, self.MORE, 0))
        self.assertEqual(told["memories"]["differs"].index(True), differing["row"])
        self.assertEqual(told["memories"]["more_bytes"][differing["row"]],
                         own["heap_bytes"] - usual["heap_bytes"])
        self.assertIn(f"{self.OP} holds 2.00 GiB here, nothing there", differing["text"])

    def test_a_host_that_cannot_be_read_is_told(self):
        data = xplane("tf_two_allocators")
        with folder(pod("pod", data, 3, {1: b"\x0a\xff\xff"})) as root, Server(logdir=root) as server:
            told = self.ask(server)
        self.assertEqual(told["hosts"], 3)
        self.assertEqual({host for host, _ in self.memories(told)}, {host_name(0), host_name(2)})
        self.assertEqual(told["differing"], [])
        self.assertEqual([one["host"] for one in told["unreadable"]], [host_name(1)])

    def test_a_host_without_events_has_no_rows(self):
        data = xplane("tf_two_hosts")
        with folder({"pod/a.xplane.pb": data, "pod/b.xplane.pb": xplane("v5e_matmul")}) as root:
            with Server(logdir=root) as server:
                told = self.ask(server)
        self.assertEqual([host for host, _ in self.memories(told)], ["a"])
        self.assertEqual([kind["memories"] for kind in told["kinds"]], [1])

    def test_device_memory_profiles(self):
        data = device_memory("two_devices.memory.prof")
        more = holds_more_arrays(data, 3 << 30)
        files = {f"pod/{host_name(i)}.memory.prof": more if i == 2 else data for i in range(5)}
        with folder(files) as root, Server(logdir=root) as server:
            told = self.ask(server, "/api/v1/device_memory/across")
            listed = server.get("/api/v1/device_memory", {"session": "pod"}).json()["files"]
        peaks = self.memories(told)
        for file in listed:
            of_device = {}
            for group in file["groups"]:
                of_device[group["device"]] = of_device.get(group["device"], 0) + group["bytes"]
            for device, size in of_device.items():
                if device:
                    self.assertEqual(peaks[file["name"], device], size)
        grown = [told["strings"][told["memories"]["host"][one["row"]]] for one in told["differing"]
                 if one["bytes"] and one["bytes"] - one["median_bytes"] >= 3 << 30]
        self.assertEqual(grown, ["host-002.memory.prof"])
        self.assertRegex(told["differing"][0]["name"], r"^\S+ \(\S+:\d+\)$")
        self.assertIn("more than host-000.memory.prof, cpu:1, at the median", told["differing"][0]["text"])


if __name__ == "__main__":
    unittest.main()
