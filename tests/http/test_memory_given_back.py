"""What the process holds after many loads is what its cache holds, and little more."""
import pathlib
import re
import time
import unittest

from server_fixture import INSTRUMENTED, Server

BESIDE_MIB = 16


def resident_bytes(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+) kB", status).group(1)) << 10


def kept_bytes(server):
    return server.get("/api/v1/server").json()["cache"]["used_bytes"]


def load_everything(server):
    for session in server.get("/api/v1/sessions").json()["sessions"]:
        modules = server.get("/api/v1/modules", {"session": session["name"]})
        for module in modules.json()["modules"] if modules.status == 200 else []:
            for question in ("memory_view", "buffers", "advise"):
                server.get(f"/api/v1/{question}", {"session": session["name"], "module": module["name"]})
        server.get("/api/v1/memory_profile/across", {"session": session["name"]})


class MemoryGivenBack(unittest.TestCase):
    @unittest.skipIf(INSTRUMENTED, "a sanitizer keeps what is freed")
    def test_after_many_loads_the_process_holds_what_the_cache_does(self):
        with Server("--cache_mib=8", "--threads=2") as server:
            load_everything(server)
            deadline = time.monotonic() + 60
            while resident_bytes(server) > kept_bytes(server) + (BESIDE_MIB << 20):
                self.assertLess(time.monotonic(), deadline, resident_bytes(server) >> 20)
                time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
