"""Files that change underneath: what is answered is of what is there, or an error, and nothing of what was."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

from log_folders import folder, xplane
from profile_build import Profile
from server_fixture import FIXTURES, Server, program

PROGRAMS = ("v5e_arguments_oom", "v5e_gpt_scan")


def rewrite(place, data, times):
    """In place: the same inode, and the times that it had."""
    with open(place, "r+b") as file:
        file.write(data)
        file.truncate(len(data))
    os.utime(place, ns=times)


def padded(data, size):
    """The same profile, `size` bytes long: a field that nobody knows stands at its end."""
    room = size - len(data)
    for length in range(max(room - 12, 0), room):
        field = bytes([0xFA, 0xFF, 0x03])
        value = length
        while True:
            field += bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
            value >>= 7
            if not value:
                break
        if len(field) + length == room:
            return data + field + bytes(length)
    raise AssertionError(f"no field fills {room} bytes")


class ChangedFiles(unittest.TestCase):
    def programs_of(self, server):
        answer = server.get("/api/v1/modules", {"session": "s"})
        self.assertEqual(answer.status, 200, answer)
        return [module["name"] for module in answer.json()["modules"]]

    def test_a_file_rewritten_with_its_size_and_time_is_read_anew(self):
        one, other = (xplane(name) for name in PROGRAMS)
        size = max(len(one), len(other)) + 64
        one, other = padded(one, size), padded(other, size)
        with folder({"s/vm-0.xplane.pb": one}) as root:
            place = next(pathlib.Path(root).rglob("vm-0.xplane.pb"))
            looked = place.stat()
            with Server(logdir=root) as server:
                before = self.programs_of(server)
                rewrite(place, other, (looked.st_atime_ns, looked.st_mtime_ns))
                self.assertEqual(place.stat().st_mtime_ns, looked.st_mtime_ns)
                self.assertNotEqual(self.programs_of(server), before)

    def test_a_file_rewritten_while_it_is_read_is_one_of_the_two_or_an_error(self):
        one, other = (xplane(name) for name in PROGRAMS)
        size = max(len(one), len(other)) + 64
        contents = padded(one, size), padded(other, size)
        with folder({"s/vm-0.xplane.pb": contents[0]}) as root:
            place = next(pathlib.Path(root).rglob("vm-0.xplane.pb"))
            looked = place.stat()
            times = (looked.st_atime_ns, looked.st_mtime_ns)
            with Server("--cache_mib=0", logdir=root) as server:
                whole = [self.programs_of(server)]
                rewrite(place, contents[1], times)
                whole.append(self.programs_of(server))
                is_over = threading.Event()

                def keep_rewriting():
                    while not is_over.is_set():
                        for content in contents:
                            rewrite(place, content, times)

                writer = threading.Thread(target=keep_rewriting)
                writer.start()
                try:
                    answers = [server.get("/api/v1/modules", {"session": "s"}) for _ in range(100)]
                finally:
                    is_over.set()
                    writer.join()
                for answer in answers:
                    said = answer.json()
                    if answer.status == 200 and not said["hosts"][0]["error"]:
                        self.assertIn([module["name"] for module in said["modules"]], whole)


class Unreadable(unittest.TestCase):
    """As a user who is not the superuser: nothing is forbidden to that one."""

    def served_as_nobody(self, root):
        if os.geteuid() != 0:
            return Server(logdir=root)
        server = Server(logdir=root)
        server.command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *server.command]
        return server

    def test_what_may_no_longer_be_read_is_no_longer_answered(self):
        with tempfile.TemporaryDirectory(prefix="hbmview-secret-") as made:
            os.chmod(made, 0o755)
            root = pathlib.Path(made, "log")
            session = root / "plugins" / "profile" / "s"
            session.mkdir(parents=True)
            place = session / "vm-0.xplane.pb.gz"
            shutil.copy(FIXTURES / "logdir" / "plugins" / "profile" / "v5e_arguments_oom" / "tpu-vm-0.xplane.pb.gz",
                        place)
            place.chmod(0o644)
            with self.served_as_nobody(root) as server:
                modules = server.get("/api/v1/modules", {"session": "s"}).json()["modules"]
                questions = [("/api/v1/memory_view", {"session": "s", "module": modules[0]["name"]}),
                             ("/api/v1/memory_view/overview", {"session": "s", "module": modules[0]["name"]}),
                             ("/data", {"run": "s", "tag": "memory_viewer", "module_name": modules[0]["name"]})]
                for path, query in questions:
                    self.assertEqual(server.get(path, query).status, 200, path)
                place.chmod(0)
                for path, query in questions:
                    answer = server.get(path, query)
                    self.assertGreaterEqual(answer.status, 400, answer)
                    self.assertIn("permission", answer.body.decode().lower())
                place.chmod(0o644)
                for path, query in questions:
                    self.assertEqual(server.get(path, query).status, 200, path)


    def test_a_session_that_cannot_be_looked_into_is_not_said_to_be_none(self):
        message = (FIXTURES / "oom_messages" / "v5e_readme_oom.txt").read_bytes()
        with tempfile.TemporaryDirectory(prefix="hbmview-secret-") as made:
            os.chmod(made, 0o755)
            sessions = pathlib.Path(made, "log", "plugins", "profile")
            for name in ("v5e_matmul", "v5e_readme_oom"):
                shutil.copytree(FIXTURES / "logdir" / "plugins" / "profile" / name, sessions / name)
            secret = sessions / "v5e_readme_oom"
            questions = [("/api/v1/modules", {"session": secret.name}, 422),
                         ("/data", {"run": secret.name, "tag": "memory_viewer"}, 500),
                         ("/run_tools", {"run": secret.name}, 500)]
            secret.chmod(0)
            with self.served_as_nobody(pathlib.Path(made, "log")) as server:
                for path, query, status in questions:
                    answer = server.get(path, query)
                    self.assertEqual(answer.status, status, answer)
                    self.assertIn("in what could be listed: cannot open the folder: Permission", answer.body.decode())
                self.assertEqual(server.get("/api/v1/modules", {"session": "nowhere"}).status, 404)
                self.assertEqual(server.get("/runs").json(), ["v5e_matmul"])
                explained = server.request("POST", "/api/v1/explain", body=message).json()
                self.assertEqual([one["path"] for one in explained["unreadable"]], [str(secret)])
                self.assertIsNone(explained["messages"][0]["joined"])
                sessions.chmod(0)
                self.assertEqual(server.get("/runs").status, 500)
                self.assertEqual(server.get("/runs", {"run_path": str(sessions)}).status, 500)
                self.assertEqual(server.get("/api/v1/modules", {"session": "nowhere"}).status, 422)
                sessions.chmod(0o755)
                secret.chmod(0o755)
                self.assertEqual(server.get("/runs").json(), ["v5e_readme_oom", "v5e_matmul"])

    def test_programs_that_cannot_be_looked_at_are_not_said_to_be_none(self):
        with tempfile.TemporaryDirectory(prefix="hbmview-secret-") as made:
            os.chmod(made, 0o755)
            session = pathlib.Path(made, "log", "plugins", "profile", "s")
            session.mkdir(parents=True)
            (session / "vm.xplane.pb").write_bytes(Profile().bytes())
            programs = session / "vm-of-programs.xplane.pb"
            programs.write_bytes(xplane("v5e_matmul"))
            programs.chmod(0)
            with self.served_as_nobody(pathlib.Path(made, "log")) as server:
                ask = lambda: server.overview("s").json()
                self.assertIn("cannot be told now", " ".join(ask()["notes"]))
                programs.chmod(0o644)
                told = ask()
                self.assertEqual(told["notes"], [])
                self.assertIn("The Memory Viewer of this session", told["hosts"][0]["advice"])


class FullDisk(unittest.TestCase):
    def test_what_could_not_be_written_is_no_success(self):
        sample = FIXTURES / "logdir" / "plugins" / "profile" / "tf_tiny"
        commands = ["", "report", "explain", "advise", "diff", "watch", "mcp", "get_memory_profile",
                    "get_peak_allocations", "serve"]
        questions = [[*filter(None, [command]), "--help"] for command in commands]
        questions += [["--version"], ["--list_flags"], ["report", sample], ["report", sample, "--format=json"]]
        for words in questions:
            with open("/dev/full", "wb") as full:
                done = subprocess.run([program(), *words], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("could not be written: No space left", done.stderr.decode(), words)


if __name__ == "__main__":
    unittest.main()
