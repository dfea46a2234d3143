"""Which part of the bytes at each peak has neither a line nor an argument: unknown_sources.py PATH... [--most PERCENT]

Asks `$HBMVIEW report PATH --by=source` (default build/hbmview) of every program and memory space, prints the worst and
the sum, and ends with 1 when a memory space has more than PERCENT (3). PATH is anything that report reads: a log
directory, a dump, the programs that library_models.py compiles.
"""
import argparse
import json
import os
import subprocess
import sys

SHOWN = 10


def spaces_of(path):
    program = os.environ.get("HBMVIEW", "build/hbmview")
    done = subprocess.run([program, "report", path, "--by=source", "--format=json", "--top=1000000"], check=True,
                          stdout=subprocess.PIPE)
    for module in json.loads(done.stdout)["modules"]:
        for space in module["memory_spaces"]:
            rows = space["groups"]["rows"]
            unknown = sum(row["size_bytes"] for row in rows if row["key"] == "(unknown)")
            yield f"{module['session']} / {module['module']}, {space['name']}", unknown, space["peak_bytes"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("paths", nargs="+", metavar="PATH")
    arguments.add_argument("--most", type=float, default=3, metavar="PERCENT")
    asked = arguments.parse_args()
    found = [space for path in asked.paths for space in spaces_of(path) if space[2]]
    found.sort(key=lambda space: space[1] / space[2], reverse=True)
    for name, unknown, peak in found[:SHOWN]:
        print(f"{100 * unknown / peak:7.3f} %  {unknown:14,} of {peak:16,} bytes  {name}")
    unknown, peak = sum(space[1] for space in found), sum(space[2] for space in found)
    print(f"{100 * unknown / max(peak, 1):7.3f} %  of {peak:,} bytes in {len(found)} memory spaces")
    return 1 if any(100 * unknown / peak > asked.most for _, unknown, peak in found) else 0


if __name__ == "__main__":
    sys.exit(main())
