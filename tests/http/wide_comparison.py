#!/usr/bin/env python3
"""Serves CORPUS/logdir and lets the corpus's own comparer ask all that XProf was asked: wide_comparison.py CORPUS

The comparer is CORPUS/../tools/xprof_compare.py; where it is missing, ours (xprof_answers.py) takes its place.
"""
import pathlib
import re
import subprocess
import sys

from server_fixture import Server

# The requests we answer as XProf does; memory_viewer brings module_list and hosts with it.
TAGS = ("memory_viewer", "memory_profile", "runs", "run_tools")


def compare(tool, corpus, url, tag):
    """Prints what differs; returns how many answers agreed and how many did not."""
    command = [sys.executable, str(tool), str(corpus), url, "--tag", tag]
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (output.stdout + output.stderr).splitlines()
    verdict = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1] if lines else "")
    for line in lines[:-1] if verdict else lines:
        print(line)
    return (int(verdict[1]), int(verdict[2])) if verdict else (0, 1)


def main():
    corpus = pathlib.Path(sys.argv[1]).resolve()
    tool = corpus.parent / "tools" / "xprof_compare.py"
    if not tool.exists():
        ours = pathlib.Path(__file__).with_name("xprof_answers.py")
        return subprocess.run([sys.executable, str(ours), str(corpus)], check=False).returncode
    with Server(logdir=corpus / "logdir") as server:
        results = [compare(tool, corpus, server.url.split("?")[0], tag) for tag in TAGS]
    passed, failed = (sum(counts) for counts in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
