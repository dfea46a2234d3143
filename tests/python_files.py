#!/usr/bin/env python3
"""Runs the test files of one folder, several at a time: python_files.py FOLDER (tests/run-python.sh is its front).

Each file is a process of its own (unittest). Most of them wait, for servers and for what is slow on purpose: twice as
many run as there are cores. Those that took longest the last time begin first. What a file prints is shown whole when
it ends, and that of files that failed after all others. Closes with "N passed, N failed". FAIL_FAST=1 ends a file at
its first failure.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

REPO = pathlib.Path(__file__).resolve().parents[1]
AT_ONCE = 2 * len(os.sched_getaffinity(0))


def run(file):
    """(the exit code of its tests, what they printed, seconds)"""
    command = [os.environ.get("PYTHON") or "python3", "-m", "unittest", "discover", "-v",
               "-s", str(file.parent), "-p", file.name, *(["--failfast"] if os.environ.get("FAIL_FAST") else [])]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=REPO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout, time.monotonic() - begun


def verdict(code, printed):
    """(tests that passed, that failed) by what unittest says at the end; a file that ran none, or died, failed."""
    ran = [int(number) for number in re.findall(r"^Ran (\d+) test", printed, re.M)]
    closing = re.findall(r"^(?:OK|FAILED|NO TESTS RAN)(?: .*)?$", printed, re.M)  # the interpreter may warn after it
    if not ran or not closing or ran[-1] == 0:
        return 0, 1
    numbers = {name: int(number) for name, number in re.findall(r"([a-z ]+)=(\d+)", closing[-1])}
    failed = sum(numbers.get(name, 0) for name in ("failures", "errors", "unexpected successes"))
    if code != 0 or not closing[-1].startswith("OK"):
        failed = max(failed, 1)
    return max(ran[-1] - failed - numbers.get("skipped", 0), 0), failed


def recorded(times):
    try:
        return json.loads(times.read_text())
    except (OSError, ValueError):
        return {}


def run_all(files, times):
    """(tests that passed, that failed) of all files."""
    seconds, passed, failed, of_failed = recorded(times), 0, 0, []
    first = sorted(files, key=lambda file: (-seconds.get(file.name, 0), -file.stat().st_size))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(run, file): file for file in first}
        for done in concurrent.futures.as_completed(running):
            file, (code, printed, took) = running[done], done.result()
            good, bad = verdict(code, printed)
            passed, failed, seconds[file.name] = passed + good, failed + bad, round(took, 2)
            told = f"== {file.relative_to(REPO)}, {took:.1f} s\n{printed}"
            if bad:
                of_failed.append(told)
            print(f"== {file.relative_to(REPO)} failed" if bad else told, flush=True)
    print("".join(of_failed), end="", flush=True)
    times.write_text(json.dumps(seconds))
    return passed, failed


def main(folder):
    wanted = (os.environ.get("ONLY") or "test_*").split()
    files = sorted({file for name in wanted for file in (REPO / "tests" / folder).glob(f"{name}.py")})
    if not files:
        print("no tests")
    logs = REPO / "build" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    passed, failed = run_all(files, logs / f"{folder}-seconds.json")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
