"""/api/v1/openapi.json against the running server: what it says of arguments and answers is so, and all of it is said.

By jsonschema, which holds every answer about the fixtures against its form (where nothing more may stand), and by
schemathesis, which makes up requests, hostile ones as well.
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import jsonschema

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests" / "http"))
from every_question import every_question, Question  # noqa: E402
from server_fixture import FIXTURES, FixturesServed, Server  # noqa: E402

PREFIX = "/api/v1/"
ENDLESS = "/api/v1/events"
NO_JSON = {ENDLESS, "/api/v1/save", "/api/v1/openapi.json"}
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
PLACE = {"session": "v5e_padded", "memory_space": "0"}
READERS = ("api/*.c", "http/module_request.c", "http/profile_request.c")
READ = re.compile(r'(?:request_query|request_given|request_need|request_int64|read_flag|profile_number_read)'
                  r'\(request, "(\w+)"')
ROW = {"id": "as_it_is", "name": "as it is", "predicted_total_bytes": 7, "low_bytes": None, "high_bytes": None,
       "compiled_total_bytes": 7, "is_inside": None, "status": "compiled", "reason": None, "seconds": 1}
CHECK = json.dumps({"state": "done", "asked": "changes", "target": None, "compiler": None, "total": 1, "compiled": 1,
                    "compiling": None, "reason": None, "rows": [ROW]}).encode()
OF_XPROF = {"program_id", "module_name", "session_path", "run_path"}


def closed(schema):
    """The same form, where nothing may stand that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and isinstance(made.get("required"), list):
        made["additionalProperties"] = False
    return made


def operation_of(document, path):
    operations = document["paths"][path]
    return next(iter(operations.items()))


class Document(FixturesServed):
    def setUp(self):
        self.document = self.server.get("/api/v1/openapi.json").json()

    def operations(self):
        for path in self.document["paths"]:
            method, operation = operation_of(self.document, path)
            yield path, method.upper(), operation

    def place(self):
        module = self.server.get("/api/v1/modules", {"session": PLACE["session"]}).json()["modules"][0]["name"]
        return {**PLACE, "module": module, "logical_buffer_id": "1", "run": PLACE["session"]}

    def ask(self, path, method, query):
        body = b"" if method == "POST" else None
        return self.server.request(method, path + "?" + urllib.parse.urlencode(query), body=body)

    def test_it_is_openapi_with_every_address_of_the_docs(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        docs = (REPO / "docs" / "api.md").read_text()
        told = set(re.findall(r"^#+ (?:GET|POST) (/api/v1/[a-z_/.]+)", docs, re.M))
        self.assertEqual(set(self.document["paths"]), told)

    def test_every_parameter_is_described(self):
        for path, _, operation in self.operations():
            for parameter in operation["parameters"]:
                self.assertGreater(len(parameter.get("description", "")), 10, (path, parameter["name"]))

    def test_what_the_code_reads_is_declared(self):
        named = {one["name"] for _, _, operation in self.operations() for one in operation["parameters"]}
        texts = [file.read_text() for reader in READERS for file in (REPO / "server").glob(reader)]
        read = {name for text in texts for name in READ.findall(text)}
        self.assertGreater(len(read), 20)
        self.assertEqual(read - named - OF_XPROF, set())

    def test_a_number_must_be_one_wherever_one_is_declared(self):
        for path, method, operation in self.operations():
            for parameter in operation["parameters"]:
                # What is saved has the address of the page, whatever that is.
                if parameter["schema"]["type"] != "integer" or path == "/api/v1/save":
                    continue
                answer = self.ask(path, method, {**self.place(), parameter["name"]: "x1"})
                self.assertEqual(answer.status, 400, (path, parameter["name"], answer))
                self.assertIn(parameter["name"], answer.json()["error"]["message"])

    def test_what_is_required_is_asked_for(self):
        for path, method, operation in self.operations():
            for parameter in operation["parameters"]:
                if not parameter["required"]:
                    continue
                query = {name: value for name, value in self.place().items() if name != parameter["name"]}
                answer = self.ask(path, method, query)
                self.assertEqual(answer.status, 400, (path, parameter["name"], answer))
                self.assertIn(f'"{parameter["name"]}"', answer.json()["error"]["message"])

    def test_what_is_not_required_is_not_asked_for(self):
        for path, method, operation in self.operations():
            # One does not end, one needs run or a text, one a body.
            if path in (ENDLESS, "/api/v1/save", "/api/v1/check/progress"):
                continue
            needed = {one["name"] for one in operation["parameters"] if one["required"]}
            answer = self.ask(path, method, {name: value for name, value in self.place().items() if name in needed})
            self.assertNotEqual(answer.status, 400, (path, answer))


class Answers(unittest.TestCase):
    def hold(self, server):
        document = server.get("/api/v1/openapi.json").json()
        validators, held = {}, set()
        for question in self.questions(server):
            if question.path not in document["paths"] or question.path in NO_JSON:
                continue
            method, operation = operation_of(document, question.path)
            if question.path not in validators:
                form = copy.deepcopy(operation["responses"]["200"]["content"]["application/json"]["schema"])
                refusal = operation["responses"]["default"]["content"]["application/json"]["schema"]
                validators[question.path] = {True: jsonschema.Draft202012Validator(closed(form)),
                                             False: jsonschema.Draft202012Validator(closed(refusal))}
            answer = self.ask(server, method.upper(), question)
            validators[question.path][answer.status == 200].validate(answer.json())
            held.add((question.path, answer.status == 200))
        return {path for path, is_good in held if is_good}

    @staticmethod
    def ask(server, method, question):
        return server.request(method, question.path + "?" + urllib.parse.urlencode(question.query), body=question.body)

    @staticmethod
    def questions(server):
        yield from every_question(server)
        for path in ("server", "work", "trend"):
            yield Question(PREFIX + path, {})
        yield Question("/api/v1/trend", {"tool": "memory_profile"})
        sessions = [session["name"] for session in server.get("/api/v1/sessions").json()["sessions"]]
        before = None
        for name in sessions:
            for path in ("modules", "memory_profile/across", "device_memory/across"):
                yield Question(PREFIX + path, {"session": name})
            for module in server.get("/api/v1/modules", {"session": name}).json().get("modules", [])[:1]:
                here = {"session": name, "module": module["name"]}
                yield Question("/api/v1/advise", here)
                yield Question("/api/v1/check", here)
                yield Question("/api/v1/check/progress", here, CHECK)
                yield Question("/api/v1/check", here)
                yield Question("/api/v1/trend", {"module": module["name"]})
                yield Question("/api/v1/memory_view", {**here, "delta": 1})
                if before:
                    yield Question("/api/v1/diff", {**here, "session_b": before["session"],
                                                    "module_b": before["module"]})
                before = here

    def test_every_answer_has_the_form_that_is_told(self):
        answered = set()
        for folder in ("logdir", "xla_dump", "device_memory", "compare"):
            with Server(logdir=FIXTURES / folder) as server:
                answered |= self.hold(server)
                told = server.get("/api/v1/openapi.json").json()["paths"]
        self.assertEqual(set(told) - NO_JSON - answered, set())


class MadeUpRequests(FixturesServed):
    def made_up(self, settings):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "schemathesis.toml")
            config.write_text(settings)
            command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run",
                       f"http://127.0.0.1:{self.server.port}/api/v1/openapi.json", "--checks", CHECKS, "--mode", "all",
                       "--max-examples", "6", "--phases", "examples,coverage,fuzzing", "--seed", "1",
                       "--exclude-path", ENDLESS, "--no-color", "--generation-database", "none"]
            done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONUTF8": "1"}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        self.assertRegex(done.stdout, r"\d{3,} generated")

    def test_whatever_is_asked(self):
        self.made_up("")

    def test_whatever_is_asked_of_a_program_that_there_is(self):
        module = self.server.get("/api/v1/modules", {"session": PLACE["session"]}).json()["modules"][0]["name"]
        self.made_up(f'[parameters]\nsession = "{PLACE["session"]}"\nrun = "{PLACE["session"]}"\nmodule = "{module}"\n')


if __name__ == "__main__":
    unittest.main()
