"""Links that lead out of the log directory, and what is neither file nor folder."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

from log_folders import PROFILES, age
from server_fixture import Server, program

SECONDS = 60  # a FIFO that is opened waits for ever
RUN = "v5e_matmul"
COMMANDS = (["report"], ["report", "--trend"], ["advise"], ["watch", "--once"])


def names(server):
    reply = server.get("/api/v1/sessions").json()
    return [session["name"] for session in reply["sessions"]], reply["left_out"]


def listed_by_xprof(server):
    """As XProf lists them, and how many lines tell what is left out of it."""
    reply = server.get("/data/plugin/profile/runs")
    return reply.json(), reply.headers["X-Hbmview-Left-Out"]


class Links(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.runs = self.root / "log" / "plugins" / "profile"
        self.runs.mkdir(parents=True)
        shutil.copytree(PROFILES / RUN, self.root / "elsewhere")

    def inside(self):
        shutil.copytree(PROFILES / RUN, self.runs / "inside")
        for file in (self.runs / "inside").iterdir():
            age(file)

    def test_sessions_elsewhere_are_one_line_and_a_flag_opens_them(self):
        self.inside()
        for name in ("a", "b", "c"):
            (self.runs / name).symlink_to(self.root / "elsewhere")
        with Server(logdir=self.root / "log") as server:
            sessions, left_out = names(server)
            self.assertEqual(sessions, ["inside"])
            [line] = left_out
            self.assertIn("and so are 2 more; --follow_symlinks", line["reason"])
            self.assertEqual(listed_by_xprof(server), (["inside"], "1"))
        with Server("--follow_symlinks", logdir=self.root / "log") as server:
            self.assertEqual(names(server), (["inside", "c", "b", "a"], []))
            self.assertEqual(listed_by_xprof(server), (["inside", "c", "b", "a"], "0"))
            view = {"module": "jit__lambda(1)"}
            bodies = [server.get("/api/v1/memory_view", {"session": one, **view}).json() for one in ("inside", "a")]
            self.assertEqual(bodies[0]["totals"], bodies[1]["totals"])

    def test_the_commands_have_the_flag(self):
        (self.runs / "a").symlink_to(self.root / "elsewhere")
        for command in COMMANDS:
            with self.subTest(command):
                done = subprocess.run([program(), *command, str(self.root / "log"), "--follow_symlinks"],
                                      capture_output=True, text=True, timeout=SECONDS, check=False)
                self.assertEqual((done.returncode, "jit__lambda" in done.stdout), (0, True), done)

    def test_a_file_elsewhere(self):
        (self.runs / "s").mkdir()
        file = next((self.root / "elsewhere").iterdir())
        (self.runs / "s" / "a.xplane.pb.gz").symlink_to(file)
        with Server(logdir=self.root / "log") as server:
            self.assertIn("--follow_symlinks", names(server)[1][0]["reason"])
        with Server("--follow_symlinks", logdir=self.root / "log") as server:
            modules = server.get("/api/v1/modules", {"session": "s"}).json()["modules"]
            self.assertEqual([one["name"] for one in modules], ["jit__lambda(1)"])

    def test_circles_end(self):
        self.inside()
        (self.runs / "up").symlink_to(self.root / "log")
        (self.root / "elsewhere" / "back").symlink_to(self.runs)
        (self.runs / "there").symlink_to(self.root / "elsewhere")
        (self.runs / "self").symlink_to("self")
        for flags in ([], ["--follow_symlinks"]):
            with Server(*flags, logdir=self.root / "log") as server:
                self.assertIn("inside", names(server)[0])


class NoFiles(unittest.TestCase):
    """A FIFO, a socket, a device: none is opened, none is waited for."""

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.session = self.root / "plugins" / "profile" / "s"
        shutil.copytree(PROFILES / RUN, self.session)
        for file in self.session.iterdir():
            age(file)

    def make(self, name, kind):
        if kind == "fifo":
            os.mkfifo(name)
        elif kind == "socket":
            self.enterContext(socket.socket(socket.AF_UNIX)).bind(str(name))
        else:
            name.symlink_to("/dev/zero")

    def test_in_a_session(self):
        for kind in ("fifo", "socket", "device"):
            self.make(self.session / f"{kind}.xplane.pb", kind)
            self.make(self.session / f"{kind}.prof", kind)
        for flags in ([], ["--follow_symlinks"]):
            with Server(*flags, logdir=self.root) as server:
                self.assertEqual(names(server)[0], ["s"])
                modules = server.get("/api/v1/modules", {"session": "s"}).json()
                self.assertEqual([host["name"] for host in modules["hosts"]], ["tpu-vm-0"])
                files = server.get("/api/v1/device_memory", {"session": "s"})
                self.assertEqual(files.json()["files"], [])

    def test_as_the_path(self):
        for kind in ("fifo", "socket", "device"):
            path = self.root / f"{kind}.xplane.pb"
            self.make(path, kind)
            for command in (["report", path], ["advise", path], ["explain", path], [f"--logdir={path}", "--port=0"]):
                with self.subTest(kind=kind, command=command):
                    if command[0] == "explain" and kind != "socket":
                        continue  # a log may come through a pipe
                    done = subprocess.run([program(), *map(str, command)], capture_output=True, text=True,
                                          timeout=SECONDS, check=False)
                    self.assertEqual(done.returncode, 3, done)
                    self.assertIn(path.name, done.stderr)


if __name__ == "__main__":
    unittest.main()
