"""hbmview report PATH --format=html: the page as one file."""
import json
import re
import unittest

from hbmview_command import PROFILES, hbmview


def index_of(page):
    return json.loads(re.search(r'<script type="application/json" id="saved">(.*?)</script>', page, re.S)[1])


class ReportHtml(unittest.TestCase):
    def test_a_session_as_one_file(self):
        done = hbmview("report", PROFILES.parents[1], "--session=v5e_gpt_12layer_oom", "--format=html")
        self.assertEqual((done.code, done.errors), (0, ""), done)
        self.assertLess(len(done.out), 2 << 20)
        index = index_of(done.out)
        self.assertEqual(index["address"], "?run=v5e_gpt_12layer_oom&tag=memory_viewer")
        self.assertIn("memory_view/groups", [one["resource"] for one in index["replies"]])
        again = hbmview("report", PROFILES.parents[1], "--session=v5e_gpt_12layer_oom", "--format=html")
        self.assertEqual(again.out, done.out)

    def test_every_module_of_a_session_or_one(self):
        def modules(*options):
            done = hbmview("report", PROFILES / "h100_programs", "--format=html", *options)
            self.assertEqual(done.code, 0, done)
            return {one["query"]["module"] for one in index_of(done.out)["replies"] if one["resource"] == "advise"}
        self.assertGreater(len(modules()), 1)
        self.assertEqual(modules("--module=jit_matmul"), {"jit_matmul(1)"})

    def test_a_memory_profile(self):
        done = hbmview("report", PROFILES / "tf_leak", "--tool=memory_profile", "--format=html")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(index_of(done.out)["tools"], ["memory_profile"])

    def test_what_is_not_there(self):
        for arguments, code, words in ((("/nonexistent",), 3, "/nonexistent"),
                                       ((PROFILES, "--session=nope"), 3, "nope"),
                                       ((PROFILES / "v5e_gpt_12layer_oom", "--module=nope"), 3, "nope"),
                                       ((PROFILES, "--top=3"), 2, "--top"), ((PROFILES, "--by=phase"), 2, "--by")):
            done = hbmview("report", *arguments, "--format=html")
            self.assertEqual((done.code, done.out), (code, ""), done)
            self.assertIn(words, done.errors)


if __name__ == "__main__":
    unittest.main()
