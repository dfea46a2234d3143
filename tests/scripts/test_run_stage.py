"""scripts/run-stage: a command may take as long as it likes while it lives; one that hangs is ended, all of it."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RUN_STAGE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "run-stage"
FOREVER = "import time\nwhile True: time.sleep(1)"
QUIET_SECONDS = 3  # a busy machine may leave a process no time for one
QUIET = f"--quiet-seconds={QUIET_SECONDS}"
BURN = f"import time\nwhile time.process_time() < {QUIET_SECONDS + 1}: pass"
SPIN = "while True: pass"
LEAVE_ONE = f"""import subprocess, sys
left = subprocess.Popen([sys.executable, '-c', {FOREVER!r}], start_new_session=True)
print(left.pid, file=open('{{}}', 'w'))"""


class RunStageTest(unittest.TestCase):
    def run_stage(self, program, *options):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            done = subprocess.run([RUN_STAGE, *options, log, sys.executable, "-c", program], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, log.read_text()

    def test_its_output_and_exit_code_are_kept(self):
        self.assertEqual((7, "said\n"), self.run_stage("print('said'); raise SystemExit(7)"))

    def test_a_command_that_does_nothing_is_ended(self):
        status, log = self.run_stage("print('begun', flush=True)\n" + FOREVER, QUIET)
        self.assertEqual(124, status)
        self.assertEqual("begun\n\nENDED: for 3 s it printed nothing and did nothing\n", log)

    def test_a_silent_command_that_works_is_let_be(self):
        self.assertEqual((0, ""), self.run_stage(BURN, QUIET))

    def test_a_silent_command_that_spins_is_ended(self):
        status, log = self.run_stage(SPIN, "--cpu-seconds=1")
        self.assertEqual(124, status)
        self.assertIn("ENDED: it used 1 s of CPU and printed nothing", log)

    def test_work_of_its_descendants_counts(self):
        child = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN!r}], start_new_session=True)"
        self.assertEqual((0, ""), self.run_stage(child, QUIET))

    def test_whatever_it_leaves_running_is_ended(self):
        with tempfile.NamedTemporaryFile("r") as pids:
            status, _ = self.run_stage(LEAVE_ONE.format(pids.name))
            self.assertEqual(0, status)
            with self.assertRaises(ProcessLookupError):
                os.kill(int(pids.read()), 0)

    def test_it_takes_its_command_along_when_it_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            stage = subprocess.Popen([RUN_STAGE, log, sys.executable, "-c",
                                      "import os\nprint(os.getpid(), flush=True)\n" + FOREVER])
            while not (log.exists() and log.read_text().endswith("\n")):
                time.sleep(0.01)
            stage.send_signal(signal.SIGTERM)
            stage.wait()
            with self.assertRaises(ProcessLookupError):
                os.kill(int(log.read_text()), 0)


if __name__ == "__main__":
    unittest.main()
