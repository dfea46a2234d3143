"""Which part of the bytes at each peak has neither a line nor an argument: unknown_sources.py PATH... [--most PERCENT]

Asks `$HBMVIEW report PATH --by=source` (default build/hbmview) of every program and memory space, prints the worst and
the sum, and ends with 1 when a memory space has more than PERCENT (3). PATH is anything that report reads: a log
directory, a dump, the programs that library_models.py compiles. --table writes docs/groups.md's table instead: of each
program its fullest memory space, and what its first rows hold.
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
    session = os.path.basename(path).removesuffix(".hlo.pb") if os.path.isfile(path) else None
    for module in json.loads(done.stdout)["modules"]:
        for space in module["memory_spaces"]:
            rows = space["groups"]["rows"]
            unknown = sum(row["size_bytes"] for row in rows if row["key"] == "(unknown)")
            name = f"{session or module['session']} / {module['module']}, {space['name']}"
            yield name, unknown, space["peak_bytes"], rows


def size(count):
    unit = next((i for i in range(4) if count < 1024 ** (i + 1)), 3)
    return f"{count / 1024 ** unit:.2f} {('B', 'KiB', 'MiB', 'GiB')[unit]}" if unit else f"{count} B"


def write_table(found):
    fullest = {}
    for space in found:
        program = space[0].rpartition(", ")[0]
        if program not in fullest or space[2] > fullest[program][2]:
            fullest[program] = space
    print("| program | peak | unknown | rows | the first five hold | the first row |")
    print("|---|---|---|---|---|---|")
    for name, unknown, peak, rows in sorted(fullest.values()):
        five = sum(row["size_bytes"] for row in rows[:5])
        first = f"`{rows[0]['key']}`, {100 * rows[0]['size_bytes'] / peak:.1f} %"
        shares = [f"{100 * unknown / peak:.2f} %", len(rows), f"{100 * five / peak:.1f} %", first]
        print(f"| {name} | {size(peak)} | {' | '.join(map(str, shares))} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("paths", nargs="+", metavar="PATH")
    arguments.add_argument("--most", type=float, default=3, metavar="PERCENT")
    arguments.add_argument("--table", action="store_true")
    asked = arguments.parse_args()
    found = [space for path in asked.paths for space in spaces_of(path) if space[2]]
    if asked.table:
        return write_table(found)
    found.sort(key=lambda space: space[1] / space[2], reverse=True)
    for name, unknown, peak, _ in found[:SHOWN]:
        print(f"{100 * unknown / peak:7.3f} %  {unknown:14,} of {peak:16,} bytes  {name}")
    unknown, peak = sum(space[1] for space in found), sum(space[2] for space in found)
    print(f"{100 * unknown / max(peak, 1):7.3f} %  of {peak:,} bytes in {len(found)} memory spaces")
    return 1 if any(100 * unknown / peak > asked.most for _, unknown, peak, _ in found) else 0


if __name__ == "__main__":
    sys.exit(main())
