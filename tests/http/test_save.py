"""POST /api/v1/save: a view as one file; /api/v1/buffers: the details of many buffers."""
import base64
import gzip
import html.parser
import json
import unittest

from server_fixture import FIXTURES, ServedCase, Server

OOM = {"session": "v5e_gpt_12layer_oom", "module": "jit_train_step(1)"}
COMPARED = ("run=v5e_gpt_4layer&tag=compare&module_name=jit_train_step(1)&run_b=v5e_gpt_scan"
            "&module_b=jit_train_step(1)")
PAGE = "run=v5e_gpt_12layer_oom&tag=memory_viewer&module_name=jit_train_step(1)"


class Scripts(html.parser.HTMLParser):
    """The elements of a page, and what stands in its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.policy, self.links, self.inside = [], [], "", [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.inside = tag == "script"
        if tag == "script":
            self.scripts.append([attributes, ""])
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self.links += [attributes[key] for key in ("src", "href") if key in attributes]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1][1] += data


def held(page):
    """What a saved page says of itself, and its replies by what they answer."""
    scripts = Scripts(page).scripts
    index = json.loads(next(text for attributes, text in scripts if attributes.get("id") == "saved"))
    bodies = [json.loads(gzip.decompress(base64.b64decode(text)))
              for attributes, text in scripts if attributes.get("class") == "saved"]
    return index, list(zip(index["replies"], bodies, strict=True))


class Save(ServedCase):
    def save(self, query, body=None):
        return self.server.request("POST", f"/api/v1/save?{query}", body=body)

    def test_a_page_holds_what_the_api_answers(self):
        answer = self.save(PAGE)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["Content-Disposition"],
                         'attachment; filename="v5e_gpt_12layer_oom jit_train_step(1).html"')
        page = answer.body.decode()
        self.assertLess(len(page), 2 << 20)
        index, replies = held(page)
        self.assertEqual((index["address"], index["tools"], index["left_out"]), ("?" + PAGE, ["memory_viewer"], []))
        for reply, body in replies:
            if reply["resource"] in ("sessions", "modules", "buffer"):
                continue
            self.assertEqual(body, self.server.get("/api/v1/" + reply["resource"], reply["query"]).json(), reply)
        kinds = [reply["resource"] for reply, _ in replies]
        self.assertEqual((kinds.count("memory_view/overview"), kinds.count("memory_view")), (4, 4))
        self.assertEqual(kinds.count("memory_view/groups"), 9 + 3)

    def test_no_other_session_or_path_is_in_it(self):
        index, replies = held(self.save(PAGE).body.decode())
        sessions = next(body for reply, body in replies if reply["resource"] == "sessions")
        self.assertEqual([one["name"] for one in sessions["sessions"]], ["v5e_gpt_12layer_oom"])
        self.assertEqual((sessions["logdir"], sessions["version"], sessions["pending"]), ("", "", []))
        modules = next(body for reply, body in replies if reply["resource"] == "modules")
        rows = modules["modules"]
        self.assertEqual([(one["name"], one["state"]) for one in rows], [("jit_train_step(1)", "ready")])
        self.assertTrue(modules["complete"])
        self.assertGreater(rows[0]["memory_spaces"][0]["peak_bytes"], 1 << 35)
        self.assertNotIn("token", index["address"])

    def test_nothing_is_loaded_or_run_but_its_own_script(self):
        page = Scripts(self.save(PAGE).body.decode())
        self.assertIn("default-src 'none'", page.policy)
        self.assertNotIn("unsafe", page.policy)
        self.assertEqual([link for link in page.links if not link.startswith("#")], [])
        self.assertEqual([one for one, _ in page.scripts if one.get("type") == "module"], [{"type": "module"}])

    def test_what_was_looked_at_is_in_it(self):
        step = f"memory_view/groups?session={OOM['session']}&module=jit_train_step%281%29&by=phase&step=12"
        again = f"memory_view/groups?session={OOM['session']}&module=jit_train_step%281%29&host=tpu-vm-0"
        odd = ["sessions", "server", "nowhere?x=1", "memory_view/groups?by=" + "x" * 3000, "memory_view?a&b"]
        asked = [step, again, step, *odd]
        _, replies = held(self.save(PAGE, json.dumps({"asked": asked})).body.decode())
        found = [body for reply, body in replies if reply["query"].get("step") == "12"]
        self.assertEqual([(body["by"], body["step"]) for body in found], [("phase", 12)])
        self.assertEqual([reply["resource"] for reply, _ in replies].count("memory_view/groups"), 9 + 3 + 1)
        self.assertNotIn("server", [reply["resource"] for reply, _ in replies])

    def test_a_memory_profile(self):
        index, replies = held(self.save("run=tf_leak&tag=memory_profile").body.decode())
        found = {reply["resource"]: body for reply, body in replies}
        self.assertEqual(found["memory_profile/timeline"]["events"], 467)
        self.assertTrue(found["memory_profile/timeline"]["is_exact"])
        self.assertEqual(len(found["memory_profile/events"]["row"]), 467)
        self.assertTrue(found["memory_profile"]["complete"])

    def test_a_device_memory_profile(self):
        path = FIXTURES / "device_memory" / "two_devices.memory.prof"
        with Server(logdir=path) as server:
            answer = server.request("POST", f"/api/v1/save?run={path.name}&tag=device_memory")
            index, replies = held(answer.body.decode())
            found = {reply["resource"]: (reply["query"], body) for reply, body in replies}
            for resource in ("device_memory", "device_memory/profile"):
                query, body = found[resource]
                self.assertEqual(body, server.get("/api/v1/" + resource, query).json())
        self.assertEqual((index["tools"], found["device_memory/profile"][0]["file"]), (["device_memory"], path.name))

    def test_a_comparison(self):
        index, replies = held(self.save(COMPARED).body.decode())
        self.assertEqual((index["address"], index["tools"]), ("?" + COMPARED, ["compare"]))
        found = [(reply, body) for reply, body in replies if reply["resource"] == "diff"]
        self.assertEqual(len({reply["query"]["by"] for reply, _ in found}), 9)
        for reply, body in found:
            self.assertEqual(body, self.server.get("/api/v1/diff", reply["query"]).json())
        sessions = next(body for reply, body in replies if reply["resource"] == "sessions")
        self.assertEqual({one["name"] for one in sessions["sessions"]}, {"v5e_gpt_4layer", "v5e_gpt_scan"})
        kinds = [reply["resource"] for reply, _ in replies]
        self.assertEqual([kinds.count(kind) for kind in ("memory_view/overview", "modules", "advise")], [2, 2, 1])

    def test_a_program_compared_with_itself(self):
        itself = COMPARED.replace("v5e_gpt_scan", "v5e_gpt_4layer")
        _, replies = held(self.save(itself).body.decode())
        kinds = [reply["resource"] for reply, _ in replies]
        self.assertEqual([kinds.count(kind) for kind in ("memory_view/overview", "modules", "diff")], [1, 1, 9])

    def test_a_comparison_whose_programs_the_page_chose(self):
        first = "run=v5e_gpt_4layer&tag=compare"
        asked = ("diff?session=v5e_gpt_4layer&module=jit_train_step%281%29&session_b=v5e_gpt_scan"
                 "&module_b=jit_train_step%281%29&by=source&top=2000")
        index, _ = held(self.save(first, json.dumps({"asked": ["diff?by", asked]})).body.decode())
        self.assertEqual(index["address"], "?" + first + "&module_name=jit_train_step%281%29"
                         "&run_b=v5e_gpt_scan&module_b=jit_train_step%281%29")

    def test_an_explanation_holds_its_text_and_its_program(self):
        log = (FIXTURES / "oom_messages/v5e_gpt_12layer_oom.txt").read_text()
        answer = self.save("run=tf_leak&tag=out_of_memory&capacity=15.75GiB", json.dumps({"log": log}))
        index, replies = held(answer.body.decode())
        self.assertEqual((index["tools"], index["log"]), (["out_of_memory", "memory_viewer"], log))
        self.assertEqual(index["address"], "?tag=out_of_memory&run=v5e_gpt_12layer_oom&capacity=16911433728")
        reply, body = next(one for one in replies if one[0]["resource"] == "explain")
        self.assertEqual(reply["query"], {"capacity": "16911433728"})
        again = self.server.request("POST", "/api/v1/explain?capacity=16911433728", body=log).json()
        for part in ("kind", "capacity_bytes", "who_holds", "plan", "fixes"):  # what was looked through may differ
            self.assertEqual(body["messages"][0][part], again["messages"][0][part])
        self.assertIn("memory_view/overview", [reply["resource"] for reply, _ in replies])

    def test_an_explanation_without_a_program(self):
        log = "</script><!-- Out of memory while trying to allocate 21474836480 bytes.\n"
        page = self.save("tag=out_of_memory", json.dumps({"log": log})).body.decode()
        index, replies = held(page)
        self.assertEqual((index["tools"], index["log"]), (["out_of_memory"], log))
        self.assertEqual(index["address"], "?tag=out_of_memory")
        self.assertEqual([reply["resource"] for reply, _ in replies], ["explain", "sessions", "devices"])
        self.assertEqual(len(Scripts(page).scripts), 1 + len(replies) + 1)

    def test_what_cannot_be_saved(self):
        for query, body, status, words in (("tag=memory_viewer", None, 400, '"run"'),
                                           ("run=tf_leak&tag=out_of_memory", None, 400, "log"),
                                           ("tag=out_of_memory", '{"log": "all is well"}', 404, "no out-of-memory"),
                                           ("tag=out_of_memory&capacity=x", '{"log": "x"}', 400, "capacity"),
                                           ("run=tf_leak&tag=watercolour", None, 400, "out_of_memory"),
                                           ("run=v5e_gpt_4layer&tag=compare", None, 400, "module_b"),
                                           (COMPARED.replace("scan", "nope"), None, 404, "nope"),
                                           (COMPARED.replace("module_b=jit", "module_b=nope"), None, 404, "nope"),
                                           ("run=nope&tag=memory_viewer", None, 404, "nope"),
                                           (PAGE.replace("train", "nope"), None, 404, "jit_nope_step"),
                                           (PAGE, "[1]", 400, "JSON"), (PAGE, '{"asked": [1]}', 400, "asked"),
                                           (PAGE, json.dumps({"asked": [""] * 1001}), 400, "at most 1000")):
            answer = self.save(query, body)
            self.assertEqual(answer.status, status, answer)
            self.assertIn(words, answer.json()["error"]["message"])

    def test_what_was_looked_at_has_a_limit(self):
        """The same answer by many names."""
        whole = f"memory_view?session={OOM['session']}&module=jit_train_step%281%29&memory_space=0&x="
        page = self.save(PAGE, json.dumps({"asked": [f"{whole}{i}" for i in range(1000)]}))
        self.assertEqual(page.status, 200, page)
        self.assertLess(len(page.body), 40 << 20)
        index, replies = held(page.body.decode())
        self.assertIn("1", [reply["query"].get("x") for reply, _ in replies])
        self.assertNotIn("999", [reply["query"].get("x") for reply, _ in replies])
        self.assertEqual(index["left_out"], ["Of what was looked at besides some is not in it."])

    def test_many_buffers_are_told_as_one(self):
        many = self.server.get("/api/v1/buffers", {**OOM, "limit": 3}).json()
        self.assertEqual(len(many["buffers"]), 3)
        sizes = sorted(self.server.get("/api/v1/memory_view", OOM).json()["buffers"]["size_bytes"], reverse=True)
        self.assertEqual(many["left_out"], len(sizes) - 3)
        self.assertEqual([one["size_bytes"] for one in many["buffers"].values()], sizes[:3])
        for number, told in many["buffers"].items():
            self.assertEqual(told, self.server.get("/api/v1/buffer", {**OOM, "logical_buffer_id": number}).json())
        for limit in (0, 10001, "x"):
            self.assertEqual(self.server.get("/api/v1/buffers", {**OOM, "limit": limit}).status, 400)


if __name__ == "__main__":
    unittest.main()
