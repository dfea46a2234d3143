#!/usr/bin/env python3
"""Every prefix of the small fixtures, and N mutations of all kinds of inputs, through the commands and the server.

    mutate_inputs.py [N [SEED]]

Inputs are laid out as the sessions of log directories, BATCH at a time: one `report` reads a directory whole, a server
is asked about each session of it, `get_memory_profile`, `advise` and `diff` get some by themselves, and messages go to
Explain. Nothing may crash (under a sanitizer: report anything), hang or answer what is no JSON or no documented
status. $HBMVIEW is the program. Prints its figures and closes with "N passed, N failed"; what failed is kept.
"""
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests" / "http"))
from log_folders import age  # noqa: E402
from server_fixture import FIXTURES, Server, program  # noqa: E402

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
CORPUS = REPO / "tests" / "fuzz" / "corpus"
BATCH, SECONDS, SMALL_BYTES, SEED_BYTES_MAX = 100, 120, 2000, 200_000
STATUSES = {200, 400, 404, 413, 422, 500, 503}
EXIT_CODES = {0, 1, 2, 3}
SANITIZERS = ("ERROR: AddressSanitizer", "runtime error:", "ERROR: LeakSanitizer")

Seed = collections.namedtuple("Seed", "kind name data")


def inflated(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def seeds():
    """One of each kind of input, and of some kinds several."""
    for session in ("tf_tiny", "tf_no_memory_events", "v5e_arguments_oom", "tf_oom", "v5e_readme_oom"):
        for path in sorted((PROFILES / session).glob("*.xplane.pb*")):
            yield Seed("xplane", "vm.xplane.pb", inflated(path))
            yield Seed("xplane.gz", "vm.xplane.pb.gz", path.read_bytes())
    for path in sorted((PROFILES / "memory_profile_cases").glob("*.gz"))[:2]:
        yield Seed("xplane", "vm.xplane.pb", inflated(path))
    for path in sorted((CORPUS / "hlo").iterdir())[:12]:
        yield Seed("hlo", "a.hlo_proto.pb", path.read_bytes())
    for path in sorted((CORPUS / "hlo_text").iterdir())[:6]:
        yield Seed("hlo text", "module_0001.jit_f.after_optimizations-buffer-assignment.txt", path.read_bytes())
    yield Seed("arrays", "a.memory.prof", (FIXTURES / "device_memory" / "two_devices.memory.prof").read_bytes())
    for path in sorted((FIXTURES / "oom_messages").iterdir()):
        yield Seed("message", "log.txt", path.read_bytes())


def mutated(data, chance):
    """Some bytes changed, a piece repeated, moved or left out, the end cut off."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at, size = chance.randrange(len(data) + 1), chance.choice((1, 2, 8, 64))
        kind = chance.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        elif kind == 2:
            data[at:at] = data[chance.randrange(len(data) + 1):][:size]
        elif kind == 3:
            del data[at:at + size]
        elif kind == 4:
            data[at:at + size] = bytes([0xFF] * size)
        elif chance.randrange(8) == 0:
            del data[at:]
    return bytes(data)


def inputs(count, chance):
    known = [seed for seed in seeds() if len(seed.data) <= SEED_BYTES_MAX]
    for seed in known:
        if len(seed.data) <= SMALL_BYTES and seed.kind != "message":
            yield from (seed._replace(data=seed.data[:size]) for size in range(len(seed.data) + 1))
    kinds = sorted({seed.kind for seed in known})
    for i in range(count):
        seed = chance.choice([seed for seed in known if seed.kind == kinds[i % len(kinds)]])
        yield seed._replace(data=mutated(seed.data, chance))


class Figures:
    def __init__(self):
        self.inputs, self.statuses, self.codes = (collections.Counter() for _ in range(3))
        self.failures = []

    def add(self, other):
        self.inputs += other.inputs
        self.statuses += other.statuses
        self.codes += other.codes
        self.failures += other.failures


def run(figures, *words):
    command = [program(), *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        figures.failures.append(f"{words}: not done after {SECONDS} s")
        return
    figures.codes[done.returncode] += 1
    said = done.stderr.decode(errors="replace")
    if done.returncode not in EXIT_CODES or any(words in said for words in SANITIZERS):
        figures.failures.append(f"{words}: exit code {done.returncode}: {said[-600:]}")
    elif "--format=json" in words and done.returncode != 2:
        json.loads(done.stdout)


def ask(server, figures, path, query, body=None):
    answer = server.request("POST", path, body=body) if body is not None else server.get(path, query)
    figures.statuses[answer.status] += 1
    if answer.status not in STATUSES:
        figures.failures.append(f"{path} {query}: status {answer.status}")
    try:
        return answer.json() if path.startswith("/api") else None
    except ValueError:
        figures.failures.append(f"{path} {query}: no JSON: {answer.body[:200]!r}")
        return {}


def ask_about(server, figures, name):
    session = {"session": name}
    listed = ask(server, figures, "/api/v1/modules", session)
    for module in listed.get("modules", [])[:2]:
        program_of = {**session, "module": module["name"]}
        for path in ("memory_view", "memory_view/overview", "memory_view/groups", "advise"):
            ask(server, figures, f"/api/v1/{path}", program_of)
        ask(server, figures, "/data", {"run": name, "tag": "memory_viewer", "module_name": module["name"]})
    overview = ask(server, figures, "/api/v1/memory_profile", session)
    for host in overview.get("hosts", [])[:1]:
        for memory in host.get("memories", [])[:1]:
            one = {**session, "host": host["host"], "memory_id": memory["memory_id"]}
            for path in ("ops", "steps", "findings", "pressure", "events"):
                ask(server, figures, f"/api/v1/memory_profile/{path}", one)
        ask(server, figures, "/data", {"run": name, "tag": "memory_profile", "host": host["host"]})
    ask(server, figures, "/api/v1/device_memory", session)


def lay_out(root, batch):
    names = []
    for i, one in enumerate(batch):
        if one.kind == "message":
            continue
        names.append(f"s{i:03}")
        place = root / "plugins" / "profile" / names[-1]
        place.mkdir(parents=True)
        (place / one.name).write_bytes(one.data)
        age(place / one.name)
    return names


def try_batch(batch):
    figures, root = Figures(), pathlib.Path(tempfile.mkdtemp(prefix="hbmview-inputs-"))
    figures.inputs.update(one.kind for one in batch)
    names = lay_out(root, batch)
    try:
        run(figures, "report", root, "--format=json")
        for name in names[:: BATCH // 4]:
            place = root / "plugins" / "profile" / name
            for words in (("get_memory_profile", place), ("advise", place), ("diff", place, place)):
                run(figures, *words)
        with Server(logdir=root) as server:
            for name in names:
                ask_about(server, figures, name)
            for one in batch:
                if one.kind == "message":
                    ask(server, figures, "/api/v1/explain", {}, one.data)
    except Exception as failure:  # whatever it is, it was this batch
        figures.failures.append(f"{type(failure).__name__}: {failure}")
    if figures.failures:
        figures.failures.append(f"the inputs are kept in {root}")
    else:
        shutil.rmtree(root)
    return figures


def main(count=1000, seed=1):
    begun, chance, total = time.monotonic(), random.Random(int(seed)), Figures()
    everything = list(inputs(int(count), chance))
    batches = [everything[i:i + BATCH] for i in range(0, len(everything), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for figures in pool.map(try_batch, batches):
            total.add(figures)
    for failure in total.failures:
        print(failure)
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(total.inputs.items()))
    print(f"{len(everything)} inputs ({kinds}), seed {seed}, {time.monotonic() - begun:.0f} s")
    print(f"commands by exit code: {dict(sorted(total.codes.items()))}")
    print(f"answers by status: {dict(sorted(total.statuses.items()))}")
    print(f"{len(everything)} passed, {len(total.failures)} failed")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
