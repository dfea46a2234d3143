"""A program one of whose calls fails: with fail_calls.c loaded into it.

    with Shim() as shim:
        with ForkedCommand(shim, "report", path) as command:
            whole = command.run(0)                       # nothing fails; Run(code, out, errors)
            for number in shim.calls_to_try():           # of the run before
                command.run(number)                      # that call fails

Each place of the program (a stack of callers) that allocates, reads, opens, looks, writes or starts a thread is tried
once; with HBMVIEW_FAULTS=all every call is, which takes long.
"""
import collections
import mmap
import os
import pathlib
import struct
import subprocess
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]
SOURCE = pathlib.Path(__file__).with_name("fail_calls.c")
UNREADABLE = 3
HEAD, TRACES_MAX = 5, 1 << 20
ARMED, FAIL_AT, CALLS, KIND, PLACE = range(HEAD)
KINDS = {0: "nothing", ord("m"): "memory", ord("r"): "a read", ord("o"): "an open", ord("s"): "a look at a file",
         ord("w"): "a write", ord("t"): "a thread"}
OF_MEMORY = ("memory", "a thread")  # the system refuses both for want of memory
SAYS_A_FAULT = (b"could not be read, and so was not searched\n", b'"unreadable":[{"path"')  # of explain: no error
PROGRAM = str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())

Run = collections.namedtuple("Run", "code out errors")


class Shim:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hbmview-faults-")
        library, self.place = pathlib.Path(self.folder.name, "fail.so"), pathlib.Path(self.folder.name, "control")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        with open(self.place, "w+b") as file:
            file.truncate(8 * (HEAD + TRACES_MAX))
            self.control = mmap.mmap(file.fileno(), 8 * (HEAD + TRACES_MAX))
        self.environment = {**os.environ, "LD_PRELOAD": str(library), "FAIL_CONTROL": str(self.place),
                            "ASAN_OPTIONS": "verify_asan_link_order=0", "LC_ALL": "C.UTF-8"}
        if "coverage" in pathlib.Path(PROGRAM).parts:
            # There each piece of an arena is an allocation; its callers up to main() would make too many places of it.
            self.environment.update(FAIL_NOT_AT_EXIT="1", FAIL_NEAR_ONLY="1")
        return self

    def __exit__(self, kind, value, trace):
        self.control.close()
        self.folder.cleanup()

    def read(self, index):
        return struct.unpack_from("=Q", self.control, 8 * index)[0]

    def write(self, index, value):
        struct.pack_into("=Q", self.control, 8 * index, value)

    def arm(self, fail_at):
        self.write(CALLS, 0)
        self.write(KIND, 0)
        self.write(FAIL_AT, fail_at)
        self.write(PLACE, 0)
        self.write(ARMED, 1)

    def arm_at(self, place):
        """The first call from there fails; 0: none. For what several threads do, in no order."""
        self.arm(0)
        self.write(PLACE, place)

    def disarm(self):
        self.write(ARMED, 0)

    def failed(self):
        """What failed since it was armed, in words."""
        return KINDS[self.read(KIND)]

    def places(self):
        """Where the calls came from that were counted."""
        count = min(self.read(CALLS), TRACES_MAX)
        return struct.unpack_from(f"={count}Q", self.control, 8 * HEAD)

    def calls_to_try(self, tried=None):
        """Of what was counted with fail_at 0: the first call from each place, or every call. `tried` are the places of
        this process that need not be tried again, a set that grows."""
        tried = set() if tried is None else tried
        places = self.places()
        if os.environ.get("HBMVIEW_FAULTS") == "all":
            return list(range(1, len(places) + 1))
        first = {place: number for number, place in reversed(list(enumerate(places, 1))) if place not in tried}
        tried.update(first)
        return sorted(first.values())


class ForkedCommand:
    """A command that is begun once and forks for each run, which saves loading its libraries."""

    def __init__(self, shim, *arguments):
        self.shim, self.arguments = shim, [str(argument) for argument in arguments]
        self.out, self.errors = (pathlib.Path(shim.folder.name, name) for name in ("out", "errors"))

    def __enter__(self):
        self.process = subprocess.Popen([PROGRAM, *self.arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**self.shim.environment, "FAIL_FORKS": "1"}, text=True, cwd=REPO)
        return self

    def __exit__(self, kind, value, trace):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def run(self, fail_at):
        self.process.stdin.write(f"{fail_at} {self.out} {self.errors}\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        return Run(code, self.out.read_bytes(), self.errors.read_bytes().decode(errors="replace"))


def wrong(whole, run, failed):
    """What is wrong with a run one of whose calls failed; None: nothing."""
    if run.code < 0:
        return f"ended by signal {-run.code}"
    is_said = failed not in OF_MEMORY and any(words in run.out for words in SAYS_A_FAULT)
    if run.code == whole.code and (run.out == whole.out or is_said):
        return None
    if run.code != UNREADABLE:
        return f"exit code {run.code}, and another answer: {run.out[-300:]!r}"
    return None if run.errors.strip() else "exit code 3 without a word"


def sweep_command(case, shim, words, before=lambda: None, least=4):
    """`case` demands of the command that each of its calls, failing once, is an error or changes nothing. What the
    errors said, of which there are some at `least`. `before` each run the world is put as it was."""
    with ForkedCommand(shim, *words) as command:
        before()
        whole = command.run(0)
        case.assertIn(whole.code, (0, 1), whole.errors)
        numbers, found, said = shim.calls_to_try(), [], []
        for number in numbers:
            before()
            run = command.run(number)
            said += [run.errors] if run.code == UNREADABLE else []
            problem = wrong(whole, run, shim.failed())
            if problem:
                found.append(f"call {number} ({shim.failed()}): {problem} {run.errors[-300:]}")
        case.assertGreaterEqual(len(said), least, "the faults reach the program")
        case.assertEqual(found, [], "\n" + "\n".join(found))
        print(f"{len(numbers)} faults, {len(said)} errors: hbmview {words[0]}")
        return said
