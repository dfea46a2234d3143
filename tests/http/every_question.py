"""Every question that can be put to a server about its log directory: GET and POST, of every endpoint.

    for question in every_question(server):
        question.path, question.query, question.body        # body: None for GET

What there is to ask about (sessions, modules, memories) is asked of `server` itself.
"""
import collections
import json

from server_fixture import FIXTURES

Question = collections.namedtuple("Question", "path query body", defaults=(None,))
GROUPINGS = ("source", "phase", "scope", "dtype")
BUFFERS_ASKED = 3
LOG = (FIXTURES / "oom_messages" / "tpu_hbm_used.txt").read_bytes()


def documents(server, path, query):
    answer = server.get(path, query)
    return answer.json() if answer.status == 200 else {}


def about_module(server, module):
    yield Question("/api/v1/memory_view", module)
    yield Question("/api/v1/memory_view/overview", module)
    for by in GROUPINGS:
        yield Question("/api/v1/memory_view/groups", {**module, "by": by})
    yield Question("/api/v1/memory_view/groups/rows", module)
    yield Question("/api/v1/advise", {**module, "capacity": "v5e"})
    yield Question("/api/v1/diff", module)
    view = documents(server, "/api/v1/memory_view", module)
    space = {**module, "memory_space": view.get("memory_space", 0)}
    yield Question("/api/v1/buffers", {**space, "limit": 50})
    for buffer in view.get("buffers", {}).get("logical_buffer_id", [])[:BUFFERS_ASKED]:
        yield Question("/api/v1/buffer", {**space, "logical_buffer_id": buffer})
        yield Question("/api/v1/buffer/hlo", {**module, "logical_buffer_id": buffer})


def about_programs(server, session):
    listed = documents(server, "/api/v1/modules", session)
    for module in listed.get("modules", []):
        yield from about_module(server, {**session, "module": module["name"]})


def about_memory(server, session):
    overview = server.overview(session["session"]).json()
    yield Question("/api/v1/memory_profile", session)
    for host in overview.get("hosts", []):
        yield Question("/api/v1/memory_profile/modules", {**session, "host": host["host"]})
        for memory in host.get("memories", []):
            one = {**session, "host": host["host"], "memory_id": memory["memory_id"]}
            for name in ("ops", "steps", "pressure", "findings", "events", "held"):
                yield Question(f"/api/v1/memory_profile/{name}", one)
            yield Question("/api/v1/memory_profile/breakdown", {**one, "time_ps": memory["peak_ps"] or 0})
            yield Question("/api/v1/memory_profile/timeline",
                           {**one, "from_ps": memory["begin_ps"], "to_ps": memory["end_ps"], "buckets": 200})


def about_session(server, name):
    session = {"session": name}
    for path in ("session", "device_memory", "device_memory/profile"):
        yield Question(f"/api/v1/{path}", session)
    yield from about_programs(server, session)
    yield from about_memory(server, session)
    for tag in ("memory_viewer", "memory_profile"):
        yield Question("/data/plugin/profile/hosts", {"run": name, "tag": tag})
    yield Question("/data/plugin/profile/run_tools", {"run": name})
    yield Question("/data/plugin/profile/module_list", {"run": name})


def posted_about_session(name):
    for tag in ("memory_viewer", "memory_profile"):
        yield Question("/api/v1/save", {"run": name, "tag": tag}, b"")
    yield Question("/api/v1/explain", {"session": name}, LOG)


def asked_of_xprof():
    """What XProf was asked of the fixtures."""
    for entry in json.loads((FIXTURES / "xprof_golden" / "index.json").read_text()):
        yield Question("/" + entry["path"], entry["query"])


def every_question(server):
    listed = server.get("/api/v1/sessions").json()
    for path in ("/api/v1/sessions", "/api/v1/devices", "/data/plugin/profile/runs"):
        yield Question(path, {})
    yield from asked_of_xprof()
    sessions = [session["name"] for session in listed["sessions"]]
    for name in sessions:
        yield from about_session(server, name)
        yield from posted_about_session(name)
    for profile in listed["device_memory"]:
        yield Question("/api/v1/device_memory", {"session": profile["name"]})
        yield Question("/api/v1/device_memory/profile", {"session": profile["name"]})
    for message in sorted((FIXTURES / "oom_messages").iterdir()):
        yield Question("/api/v1/explain", {}, message.read_bytes())
    yield Question("/api/v1/session", {"session": "gone"})
    yield Question("/nothing", {})
