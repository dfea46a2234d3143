"""What strangers hand to hbmview: one of each kind of input, and of some kinds several.

    Seed(kind, name, data, beside)

A file called `name` in a session of its own, with the files `beside` it unharmed; or, when `name` is an address, what
is posted to it; or, without a name, all that a connection brings. Posts and requests ask about WHOLE, a session of
which every log directory has a good copy.
"""
import collections
import gzip
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from server_fixture import FIXTURES, REPO  # noqa: E402
from test_check import TOLD  # noqa: E402

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
DUMPS = FIXTURES / "xla_dump"
CORPUS = REPO / "tests" / "fuzz" / "corpus"
WHOLE = PROFILES / "v5e_matmul" / "tpu-vm-0.xplane.pb.gz"
MODULE = "session=whole&module=jit__lambda(1)"
SAVED = "/api/v1/save?run=whole&module_name=jit__lambda(1)&tag="

Seed = collections.namedtuple("Seed", "kind name data beside", defaults=({},))


def inflated(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def profiles():
    for session in ("tf_tiny", "tf_no_memory_events", "v5e_arguments_oom", "tf_oom", "v5e_readme_oom"):
        for path in sorted((PROFILES / session).glob("*.xplane.pb*")):
            yield Seed("xplane", "vm.xplane.pb", inflated(path))
            yield Seed("xplane.gz", "vm.xplane.pb.gz", path.read_bytes())
    for path in sorted((PROFILES / "memory_profile_cases").glob("*.gz"))[:2]:
        yield Seed("xplane", "vm.xplane.pb", inflated(path))
    yield Seed("arrays", "a.memory.prof", (FIXTURES / "device_memory" / "two_devices.memory.prof").read_bytes())


def programs():
    for path in sorted((CORPUS / "hlo").iterdir())[:12]:
        yield Seed("hlo", "a.hlo_proto.pb", path.read_bytes())
    for place in ("v5e_matmul/*", "v5e_replicated_oom/*", "v5e_padded/*"):
        (path,) = DUMPS.glob(f"{place}.after_optimizations.hlo.pb.gz")
        yield Seed("hlo", "a.hlo_proto.pb", inflated(path))
        yield Seed("hlo.gz", "a.hlo_proto.pb.gz", path.read_bytes())


def texts():
    """Each text of a dump beside the others of its program."""
    for case, stem in (("v5e_both", "module_0003."), ("v5e_text_dump", "module_0000.")):
        files = {path.stem: inflated(path) for path in sorted((DUMPS / case).glob(f"{stem}*.txt.gz"))}
        for name, data in files.items():
            yield Seed("hlo text", name, data, {other: files[other] for other in files if other != name})


def reports():
    """What the compiler counted, beside its program."""
    for path in sorted(DUMPS.glob("*/*-memory-usage-report.pb.gz")):
        (of_program,) = path.parent.glob(path.name.replace("-memory-usage-report.pb", ".hlo.pb"))
        yield Seed("usage report", path.stem, inflated(path), {of_program.stem: inflated(of_program)})


def bodies():
    for path in sorted((FIXTURES / "oom_messages").iterdir()):
        yield Seed("message", "/api/v1/explain", path.read_bytes())
    yield Seed("check body", f"/api/v1/check/progress?{MODULE}", json.dumps(TOLD).encode())
    asked = json.dumps({"asked": [f"memory_view/groups?{MODULE}&by=phase&step=1", f"buffers?{MODULE}", "sessions"]})
    yield Seed("save body", SAVED + "memory_viewer", asked.encode())
    yield Seed("save body", SAVED + "out_of_memory", b'{"log": "RESOURCE_EXHAUSTED: Used 9G of 8G hbm.", "asked": []}')


HEADERS = ("Host: localhost\r\nAccept-Encoding: gzip;q=0.5, br\r\nIf-None-Match: W/\"a\", \"b\"\r\nCookie: a=1; b=2\r\n"
           "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\nX-Forwarded-For: 10.0.0.1\r\n")


def requests():
    paths = (f"/api/v1/memory_view?{MODULE}&host=tpu-vm-0&memory_space=0", f"/api/v1/diff?{MODULE}&by=source&top=3",
             f"/api/v1/buffer?{MODULE}&logical_buffer_id=1", f"/api/v1/advise?{MODULE}&capacity=v5e", "/?run=whole")
    for path in paths:
        yield Seed("request", None, f"GET {path} HTTP/1.1\r\n{HEADERS}\r\n".encode())
    post = f"POST /api/v1/explain HTTP/1.1\r\n{HEADERS}"
    yield Seed("request", None, f"{post}Content-Length: 5\r\n\r\nhello".encode())
    yield Seed("request", None, f"{post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".encode())


def seeds():
    for some in (profiles, programs, texts, reports, bodies, requests):
        yield from some()
