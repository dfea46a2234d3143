"""Each command with each of its calls failing once: it ends with an error, in words, or says what it always says."""
import gzip
import pathlib
import shutil
import tempfile
import unittest

from failing import CALLS, REPO, ForkedCommand, Shim, sweep_command

FIXTURES = REPO / "tests" / "fixtures"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
PROGRAM_FILE = PROFILES / "v5e_arguments_oom" / "tpu-vm-0.xplane.pb.gz"
MESSAGE = FIXTURES / "oom_messages" / "v5e_readme_oom.txt"
COMMANDS = [
    ["report", PROGRAM_FILE],
    ["report", PROGRAM_FILE, "--format=json"],
    ["report", PROGRAM_FILE, "--format=csv"],
    ["report", PROFILES / "tf_tiny", "--format=markdown"],
    ["report", PROFILES / "tf_tiny", "--format=json"],
    ["report", FIXTURES / "device_memory" / "two_devices.memory.prof", "--format=json"],
    ["report", PROFILES / "tf_two_hosts"],
    ["report", PROFILES / "tf_two_hosts", "--tool=memory_profile", "--format=csv"],
    ["watch", PROGRAM_FILE, "--once"],
    ["watch", PROFILES / "tf_tiny", "--once", "--format=json"],
    ["watch", FIXTURES / "device_memory" / "two_devices.memory.prof", "--once"],
    ["explain", MESSAGE],
    ["explain", MESSAGE, "--format=json", f"--logdir={PROFILES / 'v5e_arguments_oom'}"],
    ["advise", PROGRAM_FILE],
    ["advise", PROGRAM_FILE, "--capacity=1MiB"],  # nothing fits: the nearest set, and the chips to share it
    ["advise", PROGRAM_FILE, "--capacity=8GiB"],
    ["diff", PROGRAM_FILE, PROGRAM_FILE, "--format=json"],
    ["diff", PROFILES / "v5e_matmul", PROFILES / "v5e_padded"],
    ["get_memory_profile", PROFILES / "tf_tiny"],
    ["get_peak_allocations", PROFILES / "v5e_arguments_oom"],
]


def make_log(root):
    """Two sessions of a program, one of memory over time, and Python's arrays."""
    for name, source in (("2026_11_01_10_00_00", "v5e_arguments_oom"), ("2026_11_02_10_00_00", "tf_tiny"),
                         ("2026_11_03_10_00_00", "v5e_arguments_oom")):
        shutil.copytree(PROFILES / source, root / "plugins" / "profile" / name)
    shutil.copy(FIXTURES / "device_memory" / "two_devices.memory.prof", root / "plugins" / "profile" / name)


def make_joined_log(root):
    """A newer session than that of the message's program."""
    for name, source in (("2026_11_01_10_00_00", "v5e_readme_oom"), ("2026_11_02_10_00_00", "v5e_arguments_oom")):
        shutil.copytree(PROFILES / source, root / "plugins" / "profile" / name)


def of_a_log(root):
    """Commands that look through several sessions, and those that put many answers together."""
    return [
        ["report", root],
        ["watch", root, "--once"],
        ["report", root, "--trend", "--format=json"],
        ["report", root, "--trend", "--tool=memory_profile", "--format=csv"],
        ["report", root, "--trend", "--tool=device_memory", "--format=csv"],
        ["report", root, "--session=2026_11_02_10_00_00", "--tool=memory_profile", "--format=html"],
        ["report", root, "--session=2026_11_03_10_00_00", "--format=html"],
        ["report", FIXTURES / "device_memory" / "two_devices.memory.prof", "--format=html"],
    ]


class Commands(unittest.TestCase):
    def test_each_fault_is_an_error_or_changes_nothing(self):
        self.sweep(COMMANDS)

    def test_each_fault_among_many_files_and_answers(self):
        with tempfile.TemporaryDirectory(prefix="hbmview-faulty-") as folder:
            make_log(pathlib.Path(folder))
            self.sweep(of_a_log(folder))

    def test_each_fault_while_a_messages_program_is_looked_for(self):
        with tempfile.TemporaryDirectory(prefix="hbmview-faulty-") as folder:
            make_joined_log(pathlib.Path(folder))
            self.sweep([["explain", MESSAGE, f"--logdir={folder}"],
                        ["explain", MESSAGE, f"--logdir={folder}", "--format=json"]])

    def test_each_fault_while_programs_are_looked_for_where_memory_is_not(self):
        with tempfile.TemporaryDirectory(prefix="hbmview-faulty-") as folder:
            source = PROFILES / "jax_cpu_mlp"
            for file in source.iterdir():  # not compressed: each read is one of its own
                pathlib.Path(folder, file.stem).write_bytes(gzip.decompress(file.read_bytes()))
            self.sweep([["report", folder, "--tool=memory_profile"]])

    def test_a_host_that_was_not_asked_for_is_never_the_reason(self):
        with tempfile.TemporaryDirectory(prefix="hbmview-faulty-") as folder:
            session = pathlib.Path(folder, "plugins", "profile", "2026_11_01_10_00_00")
            session.mkdir(parents=True)
            for host in "ab":
                shutil.copy(PROGRAM_FILE, session / f"{host}.xplane.pb.gz")
            arguments = (folder, "--trend", "--module=jit_h", "--host=a", "--format=json")
            with Shim() as shim, ForkedCommand(shim, "report", *arguments) as command:
                self.assertEqual(command.run(0).code, 0)
                said = [command.run(number).errors for number in range(1, shim.read(CALLS) + 1)]
        self.assertIn("a.xplane.pb.gz", "".join(said), "the faults reach the files")
        self.assertEqual([words for words in said if "b.xplane.pb.gz" in words], [])

    def sweep(self, commands):
        with Shim() as shim:
            for words in commands:
                with self.subTest(command=" ".join(map(str, words))):
                    sweep_command(self, shim, words)


if __name__ == "__main__":
    unittest.main()
