"""In a notebook's kernel: the page in a frame, %hbmview, and out-of-memory exceptions explained below their cells."""
import re
import time
import unittest
import urllib.request

from kernel import FIXTURES, PROFILES, Kernel, kinds

END_SECONDS = 60
SESSION = PROFILES / "v5e_gpt_12layer_oom"
BEGIN = f"""
import hbmview
message = open({str(FIXTURES / "oom_messages" / "v5e_gpt_12layer_oom.txt")!r}).read()
def step():
    raise RuntimeError(message)
"""


def address(output):
    return re.search(r"http://localhost:\d+/\S*", output.data["text/plain"])[0]


def is_gone(url):
    """Waits until nobody listens there."""
    end = time.monotonic() + END_SECONDS
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url).close()
        except OSError:
            return True
        time.sleep(0.05)
    return False


class InOneKernel(unittest.TestCase):
    """The tests of a class share a kernel; each begins without the extension."""

    @classmethod
    def setUpClass(cls):
        cls.kernel = Kernel().__enter__()
        cls.kernel.run(BEGIN)

    @classmethod
    def tearDownClass(cls):
        cls.kernel.__exit__(None, None, None)

    def setUp(self):
        self.addCleanup(self.kernel.run, "%unload_ext hbmview")

    def cell(self, source):
        return self.kernel.run(source)

    def assert_explained(self, outputs):
        self.assertEqual(kinds(outputs), ["error", "display_data"])
        self.assertIn("37.18 GiB", outputs[1].data["text/markdown"])
        self.assertIn("OVERFLOW by 37.18 GiB", outputs[1].data["text/plain"])


class Frame(unittest.TestCase):
    def test_it_holds_the_page_and_ends_with_the_kernel(self):
        with Kernel() as kernel:
            kernel.run(BEGIN)
            shown, = kernel.run(f"hbmview.show({str(PROFILES)!r}, height=500, session='v5e_gpt_4layer')")
            self.assertEqual(shown.output_type, "display_data")
            self.assertIn('height="500"', shown.data["text/html"])
            url = address(shown)
            self.assertTrue(url.endswith("/?run=v5e_gpt_4layer"), url)
            with urllib.request.urlopen(url) as page:
                self.assertIn("frame-ancestors 'self' http://localhost:*", page.headers["Content-Security-Policy"])
            again, = kernel.run(f"%load_ext hbmview\n%hbmview {PROFILES} --session=v5e_gpt_4layer")
            self.assertEqual(address(again), url)  # one server
        self.assertTrue(is_gone(url))


class Shown(InOneKernel):
    def test_a_name_cannot_write_into_the_notebook(self):
        shown, = self.cell("hbmview.show(None, session='</script><script>alert(1)</script>@FACTS@')")
        self.assertEqual(shown.data["text/html"].count("</script>"), 1)
        frame = self.cell("from hbmview._frame import frame_of\nfrom types import SimpleNamespace\n"
                         "frame_of(SimpleNamespace(logdir='<b>\"x', port=1), '', 5)['text/html']")[0].data["text/plain"]
        self.assertNotIn("<b>", frame)

    def test_the_magic_says_what_it_takes(self):
        self.cell("%load_ext hbmview")
        said, = self.cell("%hbmview --help")
        self.assertIn("--height=PIXELS", said.text)
        wrong, = self.cell("%hbmview one two")
        self.assertIn("takes one log directory, not 2", wrong.text)
        error, = self.cell("%hbmview --nonsense")
        self.assertEqual((error.output_type, error.ename), ("error", "UsageError"))

    def test_an_answer_is_words(self):
        result, = self.cell(f"hbmview.report({str(PROFILES / 'v5e_gpt_4layer')!r}, by='source', top=2)")
        self.assertIn("train.py:53", result.data["text/markdown"])


class Explained(InOneKernel):
    def test_with_the_extension_every_cell(self):
        self.cell("%load_ext hbmview")
        self.assert_explained(self.cell("step()"))
        self.assert_explained(self.cell("step()"))
        self.assertEqual(kinds(self.cell("1 / 0")), ["error"])
        self.assertEqual(self.cell("x = 1"), [])
        self.assertEqual(self.cell("try:\n    step()\nexcept RuntimeError:\n    pass"), [])
        self.assert_explained(self.cell("try:\n    step()\nexcept RuntimeError as e:\n    raise KeyError() from e"))
        self.cell("%unload_ext hbmview")
        self.assertEqual(kinds(self.cell("step()")), ["error"])
        late, = self.cell("%load_ext hbmview\n%reload_ext hbmview")  # of the cell before
        self.assertIn("OVERFLOW by 37.18 GiB", late.data["text/plain"])
        self.assertEqual(self.cell("x = 1"), [])
        self.assert_explained(self.cell("step()"))  # once

    def test_within_catch_alone(self):
        self.assert_explained(self.cell(f"with hbmview.catch({str(SESSION)!r}) as caught:\n    step()"))
        said, = self.cell("print(caught.explanation.document['messages'][0]['module'] is not None)")
        self.assertEqual(said.text, "True\n")
        self.assertEqual(kinds(self.cell("step()")), ["error"])
        self.assert_explained(self.cell("try:\n    with hbmview.catch():\n        step()\nexcept RuntimeError as e:\n"
                                        "    raise KeyError() from e"))
        caught = "try:\n    with hbmview.catch():\n        step()\nexcept RuntimeError:\n    pass"
        self.assertEqual(self.cell(caught), [])
        self.assertEqual(kinds(self.cell("1 / 0")), ["error"])

    def test_within_catch_with_the_extension_it_is_said_once(self):
        self.cell("%load_ext hbmview")
        self.assert_explained(self.cell(f"with hbmview.catch({str(SESSION)!r}):\n    step()"))

    def test_what_was_dumped_is_joined(self):
        dump = FIXTURES / "xla_dump" / "v5e_replicated_oom"
        message = FIXTURES / "oom_messages" / "v5e_replicated_oom.txt"
        outputs = self.cell(f"""
%load_ext hbmview
import os, re, shutil
folder = re.search("--xla_dump_to=([^ ]+)", os.environ["XLA_FLAGS"])[1]
shutil.copytree({str(dump)!r}, folder, dirs_exist_ok=True)  # as XLA would
raise RuntimeError(open({str(message)!r}).read())
""")
        self.assertEqual(kinds(outputs), ["error", "display_data"])
        self.assertIn("Who holds it at the peak, by line", outputs[1].data["text/plain"])
        self.assertIn("hbmview.show('", outputs[1].data["text/markdown"])


if __name__ == "__main__":
    unittest.main()
