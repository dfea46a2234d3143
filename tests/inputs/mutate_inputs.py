#!/usr/bin/env python3
"""Every prefix of the small inputs, and N mutations of all kinds (seeds.py), through the commands and the server.

    mutate_inputs.py [N [SEED]]

Inputs are laid out as the sessions of log directories, BATCH at a time: one `report` reads a directory whole, a
server is asked everything about each session of it, the other commands get some by themselves, and what is no file is
posted to the server or sent to it as it is. Nothing may crash (under a sanitizer: report anything), hang or answer what
is no JSON or no documented status. $HBMVIEW is the program. Prints its figures and closes with "N passed, N failed";
what failed is kept.
"""
import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from seeds import WHOLE, seeds
from every_question import about_session
from log_folders import age
from server_fixture import Answer, Server, program

BATCH, SECONDS, SMALL_BYTES, SEED_BYTES_MAX = 100, 120, 2000, 200_000
# docs/api.md. Of a file that it cannot open XProf says 500, and so do its addresses here; of ours it would be a fault.
STATUSES = {200, 400, 404, 413, 422, 503}
STATUSES_OF_XPROF = STATUSES | {500}
STATUSES_OF_REQUESTS = STATUSES | {304, 403, 405, 408, 414, 417, 431, 501, 505}
EXIT_CODES = {0, 1, 2, 3}
SANITIZERS = ("ERROR: AddressSanitizer", "runtime error:", "ERROR: LeakSanitizer")


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


def sizes_of_this_turn(size):
    """Of all prefixes, those that make's TURNS and TURN want: each Nth."""
    turns, turn = int(os.environ.get("TURNS") or 1), int(os.environ.get("TURN") or 0)
    return range(turn, size + 1, turns)


def inputs(count, chance):
    known = [seed for seed in seeds() if len(seed.data) <= SEED_BYTES_MAX]
    for seed in known:
        if len(seed.data) <= SMALL_BYTES:
            yield from (seed._replace(data=seed.data[:size]) for size in sizes_of_this_turn(len(seed.data)))
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


def run(figures, *words, sent=b""):
    command = [program(), *map(str, words)]
    try:
        done = subprocess.run(command, input=sent, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        figures.failures.append(f"{words}: not done after {SECONDS} s")
        return
    figures.codes[done.returncode] += 1
    said = done.stderr.decode(errors="replace")
    if done.returncode not in EXIT_CODES or any(words in said for words in SANITIZERS):
        figures.failures.append(f"{words}: exit code {done.returncode}: {said[-600:]}")
    elif "--format=json" in words and (done.returncode == 0 or done.stdout) and not is_json(done.stdout):
        figures.failures.append(f"{words}: no JSON: {done.stdout[:200]!r}")


class Asked(Server):
    """A server on one connection, whose answers are looked at, whoever asks."""

    def __init__(self, root, figures):
        super().__init__(logdir=root)
        self.figures, self.kept = figures, None

    def __exit__(self, *raised):
        if self.kept:
            self.kept.close()
        super().__exit__(*raised)

    def request(self, method, target, headers=None, body=None):
        try:
            answer = self.answer(method, target, body)
        except (http.client.RemoteDisconnected, ConnectionError):  # it closed a connection that it had kept, or is gone
            self.kept = None
            answer = self.answer(method, target, body)
        self.look_at(target, answer)
        return answer

    def answer(self, method, target, body):
        self.kept = self.kept or self.connection()
        self.kept.request(method, target, body=body)
        response = self.kept.getresponse()
        return Answer(response.status, response.headers, response.read())

    def look_at(self, target, answer):
        self.figures.statuses[answer.status] += 1
        is_api = target.startswith("/api")
        if answer.status not in (STATUSES if is_api else STATUSES_OF_XPROF):
            self.figures.failures.append(f"{target}: status {answer.status}: {answer.body[:200]!r}")
        is_page = target.startswith("/api/v1/save") and answer.status == 200
        if is_api and not is_page and not is_json(answer.body):
            self.figures.failures.append(f"{target}: no JSON: {answer.body[:200]!r}")


def is_json(body):
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def send(server, data):
    """All that a connection brings."""
    connection = server.connect(SECONDS)
    try:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except ConnectionError:
        pass  # it need not read to the end
    return connection


def is_whole(data):
    """Whether it is answered, or its connection closed, at once: of others the server waits for more, half a minute."""
    return data.startswith(b"GET ") and b"\r\n\r\n" in data


def receive(figures, data, connection):
    """An answer of a documented status, or none."""
    said = b""
    with connection, contextlib.suppress(ConnectionError):
        while b"\r\n\r\n" not in said and (more := connection.recv(1 << 16)):
            said += more
    status = int(said.split()[1]) if said.startswith(b"HTTP/1.") else None
    figures.statuses[status or "none"] += 1
    if said and status not in STATUSES_OF_REQUESTS:
        figures.failures.append(f"{data!r}: {said[:200]!r}")


def ask_about(server, name):
    """What about_session leaves out, too."""
    session = {"session": name}
    for question in about_session(server, name):
        server.get(question.path, question.query)
    for path in ("memory_profile/across", "device_memory/across"):
        server.get(f"/api/v1/{path}", session)
    for module in server.get("/api/v1/modules", session).json().get("modules", []):
        server.get("/api/v1/check", {**session, "module": module["name"]})
        server.get("/data", {"run": name, "tag": "memory_viewer", "module_name": module["name"]})
    for host in server.get("/api/v1/memory_profile", session).json().get("hosts", []):
        server.get("/data", {"run": name, "tag": "memory_profile", "host": host["host"]})


def ask_about_all(server):
    for tool in ("memory_viewer", "memory_profile", "device_memory"):
        server.get("/api/v1/trend", {"tool": tool})


def is_file(one):
    return one.name and not one.name.startswith("/")


def lay_out(root, batch):
    """Dumps stand beside plugins/, as XLA writes them."""
    names = {}
    for i, one in enumerate(batch):
        if is_file(one):
            place = root / f"s{i:03}" if one.name.startswith("module_") else root / "plugins" / "profile" / f"s{i:03}"
            names[place.name] = place
            write(place, {one.name: one.data, **one.beside})
    write(root / "plugins" / "profile" / "whole", {WHOLE.name: WHOLE.read_bytes()})
    return names


def write(place, files):
    place.mkdir(parents=True)
    for name, data in files.items():
        (place / name).write_bytes(data)
        age(place / name)


def give_to_commands(figures, root, batch, places):
    run(figures, "report", root, "--format=json")
    for place in places[:: BATCH // 4]:
        for words in (("get_memory_profile", place), ("get_peak_allocations", place), ("advise", place),
                      ("diff", place, place)):
            run(figures, *words)
    for one in [one for one in batch if one.kind == "message"][:: BATCH // 4]:
        run(figures, "explain", "-", "--format=json", sent=one.data)


def give_to_server(figures, root, batch, names):
    with Asked(root, figures) as server:
        sent = [(one.data, send(server, one.data)) for one in batch if one.name is None]
        for name in names:
            ask_about(server, name)
        ask_about_all(server)
        for one in batch:
            if one.name and not is_file(one):
                server.request("POST", one.name, body=one.data)
        for data, connection in sent:
            if is_whole(data):
                receive(figures, data, connection)
    for data, connection in sent:  # the server has closed them
        if not is_whole(data):
            receive(figures, data, connection)


def try_batch(batch):
    figures, root = Figures(), pathlib.Path(tempfile.mkdtemp(prefix="hbmview-inputs-"))
    figures.inputs.update(one.kind for one in batch)
    try:
        places = lay_out(root, batch)
        give_to_commands(figures, root, batch, list(places.values()))
        give_to_server(figures, root, batch, list(places))
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
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for figures in pool.map(try_batch, batches):
            total.add(figures)
    for failure in total.failures:
        print(failure)
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(total.inputs.items()))
    print(f"{len(everything)} inputs ({kinds}), seed {seed}, {time.monotonic() - begun:.0f} s")
    print(f"commands by exit code: {dict(sorted(total.codes.items()))}")
    print(f"answers by status: {dict(sorted(total.statuses.items(), key=str))}")
    print(f"{len(everything)} passed, {len(total.failures)} failed")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
