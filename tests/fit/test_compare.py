"""hbmview.fit.compare: each variant's total is the compiler's, what was predicted is the advice for the first."""
import json
import os
import subprocess
import tempfile
import unittest
import urllib.request

from steps import BATCH, FLOAT, arguments, hbmview, jnp, remat_step, train_step

V5E = "v5e:2x2"


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.logdir = os.path.join(cls.folder.name, "variants")
        fit = hbmview.fit
        cls.comparison = fit.compare({
            "base": (train_step, *arguments()),
            "remat": (remat_step, *arguments()),
            "batch/2": (train_step, *arguments(batch=BATCH // 2)),
            "donated weights": fit.lazily(train_step, *arguments(), donate_argnums=0, lever="donate_inputs"),
            "broken <b>": (train_step, 1, 2, 3),
        }, topology=V5E, logdir=cls.logdir)
        cls.rows = {row.name: row for row in cls.comparison.rows}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_totals_are_those_of_compiling_alone(self):
        alone = hbmview.fit(train_step, *arguments(batch=BATCH // 2), topology=V5E)
        self.assertEqual(self.comparison["batch/2"].total, alone.total)
        self.assertEqual(self.rows["batch/2"].delta, alone.total - self.comparison["base"].total)

    def test_the_prediction_is_the_advice_for_the_first(self):
        asked = hbmview.advise(self.comparison["base"].dump, capacity="v5e")
        told = {one["id"]: one for one in asked["interventions"]}
        for name, lever in {"batch/2": "halve_batch", "donated weights": "donate_inputs"}.items():
            row = self.rows[name]
            self.assertEqual(row.lever, lever)
            self.assertEqual(row.predicted.predicted, told[lever]["predicted_total_bytes"])
            self.assertAlmostEqual(row.off_percent, 100 * (row.predicted.predicted / row.result.total - 1))
            self.assertEqual(row.is_inside, told[lever]["low_bytes"] <= row.result.total <= told[lever]["high_bytes"])
        self.assertIsNone(self.rows["base"].predicted)

    def test_what_changed_sums_to_the_difference(self):
        row = self.rows["batch/2"]
        base = self.comparison["base"]
        rows = row.difference["groups"]["rows"]
        self.assertEqual(sum(one["delta_bytes"] for one in rows), row.result.peak - base.peak)
        self.assertEqual(row.changes[0].key, rows[0]["key"])

    def test_one_that_cannot_be_compiled_is_a_row(self):
        broken = self.rows["broken <b>"]
        self.assertIsNone(broken.result)
        self.assertIn("could not be traced", broken.failure)
        with self.assertRaises(hbmview.HbmviewError):
            self.comparison["broken <b>"]
        self.assertIn("broken &lt;b&gt;", self.comparison._repr_html_())

    def test_the_table(self):
        line = next(line for line in str(self.comparison).splitlines() if line.endswith("  batch/2"))
        for row in self.comparison.rows[:1], [self.rows["batch/2"]]:
            self.assertIn(f"{row[0].result.total / 2 ** 20:.2f} MiB", str(self.comparison))
        self.assertIn("yes", line)
        self.assertIn(f"{self.rows['batch/2'].off_percent:+.1f}%", line)
        self.assertIn(">PREDICTED</th>", self.comparison._repr_html_())

    def test_the_page_compares_the_same(self):
        query = self.comparison.link("batch/2")
        asked = dict(pair.split("=") for pair in query[1:].split("&"))
        self.assertEqual((asked["tag"], asked["run"], asked["run_b"]), ("compare", "base", "batch_2"))
        server = subprocess.Popen([os.environ["HBMVIEW"], f"--logdir={self.logdir}", "--port=0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        sides = f"session={asked['run']}&module={asked['module_name']}&session_b={asked['run_b']}" \
                f"&module_b={asked['module_b']}"
        with urllib.request.urlopen(f"{address.rstrip('/')}/api/v1/diff?{sides}") as reply:
            difference = json.load(reply)
        self.assertEqual(difference["total_delta_bytes"], self.rows["batch/2"].delta)

    def test_names_of_levers(self):
        step = (lambda x: jnp.tanh(x) * 2, *arguments()[1:2])
        same = hbmview.fit.compare({"base": step, "BF16": step, "a/b": step, "a b": step}, topology="cpu")
        self.assertEqual([row.lever for row in same.rows], [None, "bf16_parameters", None, None])
        self.assertEqual([row.session for row in same.rows], ["base", "BF16", "a_b", "a_b_2"])
        self.assertEqual([row.delta for row in same.rows], [None, 0, 0, 0])
        self.assertEqual(step[1].dtype, FLOAT)

    def test_wrong_use(self):
        for said, variants in [("takes variants", {}), ("neither a tuple", {"base": 3}),
                               ("the first variant", {"base": (train_step, 1, 2, 3)})]:
            with self.subTest(said=said), self.assertRaisesRegex(hbmview.HbmviewError, said):
                hbmview.fit.compare(variants, topology="cpu")


if __name__ == "__main__":
    unittest.main()
