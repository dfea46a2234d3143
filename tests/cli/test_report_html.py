"""hbmview report PATH --format=html: the page as one file."""
import gzip
import json
import os
import pathlib
import re
import tempfile
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

    def broken(self, *sessions):
        """A session of these files, the first of which ends too early, as a full disk leaves it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        place = pathlib.Path(folder.name, "plugins", "profile", "s")
        place.mkdir(parents=True)
        for number, name in enumerate(sessions):
            whole = gzip.decompress(next((PROFILES / name).glob("*.xplane.pb.gz")).read_bytes())
            path = place / f"vm{number}.xplane.pb"
            path.write_bytes(whole if number else whole[: len(whole) // 2])
            os.utime(path, (1_700_000_000, 1_700_000_000))
        return place

    def test_what_could_not_be_read_is_said_on_the_page_and_beside_it(self):
        place = self.broken("v5e_gpt_4layer", "v5e_matmul")
        for tool in ("memory_viewer", "memory_profile"):
            done = hbmview("report", place, f"--tool={tool}", "--format=html")
            self.assertEqual(done.code, 3, done)
            told = " ".join(index_of(done.out)["left_out"])
            for words in ("vm0.xplane.pb", "ends after", "1 of the session's files could not be read"):
                self.assertIn(words, told)
                self.assertIn(words, done.errors)
            self.assertNotIn("vm1.xplane.pb", told)

    def test_a_module_that_may_be_in_what_could_not_be_read(self):
        place = self.broken("v5e_gpt_4layer", "v5e_matmul")
        done = hbmview("report", place, "--module=jit_train_step", "--format=html")
        self.assertEqual((done.code, done.out), (3, ""), done)
        for words in ("vm0.xplane.pb: ", 'There is no module "jit_train_step" in what could be read', "ends after"):
            self.assertIn(words, done.errors)

    def test_a_folder_that_cannot_be_looked_into(self):
        place = self.broken("v5e_gpt_4layer", "v5e_matmul")
        (place / "vm0.xplane.pb").unlink()
        (place / "vm0.xplane.pb").symlink_to("nowhere")
        done = hbmview("report", place.parents[2], "--format=html")
        self.assertEqual(done.code, 3, done)
        self.assertIn("vm0.xplane.pb: a link that leads nowhere", done.errors)
        self.assertIn("memory_view/overview", [one["resource"] for one in index_of(done.out)["replies"]])

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
