"""scripts/alone: one at a time under a name, and the command's own exit code."""
import pathlib
import subprocess
import tempfile
import unittest

ALONE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "alone"


class Alone(unittest.TestCase):
    def test_the_second_waits_for_the_first(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo, said = f"{folder}/fifo", pathlib.Path(folder, "said")
            subprocess.run(["mkfifo", fifo], check=True)
            waits = f"echo begins >{fifo}; cat {fifo}; echo first >>{said}"
            first = subprocess.Popen([ALONE, "test", "sh", "-c", waits])
            with open(fifo, encoding="ascii") as told:
                self.assertEqual(told.readline(), "begins\n")
            second = subprocess.Popen([ALONE, "test", "sh", "-c", f"echo second >>{said}"])
            third = subprocess.run([ALONE, "another", "true"], check=False)
            self.assertEqual(third.returncode, 0)
            self.assertIsNone(second.poll())
            with open(fifo, "w", encoding="ascii") as end:
                end.write("end")
            self.assertEqual((first.wait(), second.wait()), (0, 0))
            self.assertEqual(said.read_text().split(), ["first", "second"])

    def test_its_exit_code_is_the_commands(self):
        self.assertEqual(subprocess.run([ALONE, "test", "sh", "-c", "exit 3"], check=False).returncode, 3)


if __name__ == "__main__":
    unittest.main()
