"""The server that starts and stops, with each of its calls failing once: it ends with an error, in words, or serves.

It ends by itself as soon as it serves: with --exit_with_stdin, and nothing on stdin. Not with a certificate: GnuTLS,
which reads it, aborts where it gets no memory.
"""
import pathlib
import re
import signal
import tempfile
import unittest

from failing import REPO, UNREADABLE, ForkedCommand, Shim

LOGDIR = REPO / "tests" / "fixtures" / "logdir"
USAGE = 2


def told(run):
    """Its lines, without the port, which the system chooses."""
    return re.sub(rb":\d+/", rb":PORT/", run.out).splitlines()


def greets(whole, run):
    """As ever, or with fewer of the names that the machine has: one is enough, and they are asked of the system."""
    return told(run)[:1] == told(whole)[:1] and set(told(run)) <= set(told(whole))


def wrong(whole, run):
    """What is wrong with a start one of whose calls failed; None: nothing."""
    if run.code == -signal.SIGTERM and greets(whole, run):
        return None  # told twice to end, by stdin and by a log directory that cannot be opened: then it ends at once
    if run.code < 0:
        return f"ended by signal {-run.code}"
    if run.code == whole.code:
        return None if greets(whole, run) else f"greets otherwise: {run.out!r}"
    if run.code not in (USAGE, UNREADABLE):
        return f"exit code {run.code}"
    return None if run.errors.strip() else "refused without a word"


class Starting(unittest.TestCase):
    def sweep(self, *options):
        with Shim() as shim, ForkedCommand(shim, "--exit_with_stdin", f"--logdir={LOGDIR}", *options) as command:
            whole = command.run(0)
            self.assertEqual(whole.code, 0, whole.errors)
            self.assertIn(b"hbmview is ready: ", whole.out)
            numbers, found, refused = shim.calls_to_try(), [], 0
            for number in numbers:
                run = command.run(number)
                refused += run.code != 0
                problem = wrong(whole, run)
                if problem:
                    found.append(f"call {number} ({shim.failed()}): {problem} {run.errors[-300:]}")
            again = command.run(0)
        print(f"{len(numbers)} faults, {refused} refusals: {' '.join(options)}")
        self.assertGreater(refused, 3, "the faults reach the program")
        self.assertEqual(found, [], "\n" + "\n".join(found))
        self.assertEqual((again.code, told(again)), (0, told(whole)), again.errors)

    def test_on_a_port_of_this_machine(self):
        self.sweep("--port=0", "--allow_host=a.example", "--memory_limit=256")

    def test_on_a_socket_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.sweep(f"--unix_socket={folder}/socket")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [], "nothing stays")

    def test_for_others_with_a_token(self):
        with tempfile.TemporaryDirectory() as folder:
            token = pathlib.Path(folder, "token")
            token.write_text("a-token-of-sixteen-letters\n")
            token.chmod(0o600)
            self.sweep("--port=0", "--bind_all", f"--token_file={token}")


if __name__ == "__main__":
    unittest.main()
