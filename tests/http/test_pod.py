"""Sessions of many hosts: read side by side, told host by host."""
import threading
import time
import unittest

from bucket_server import BucketServer
from log_folders import folder, xplane
from pod import host_name, pod
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


if __name__ == "__main__":
    unittest.main()
