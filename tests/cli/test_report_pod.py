"""`hbmview report` of sessions of many hosts."""
import pathlib
import sys
import unittest

from hbmview_command import hbmview

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from log_folders import folder, xplane  # noqa: E402
from pod import pod  # noqa: E402

HOSTS = 256


class Variants(unittest.TestCase):
    def setUp(self):
        changed = {17: xplane("v5e_gpt_scan")}  # the same name, another program
        self.root = self.enterContext(folder(pod("pod", xplane("v5e_gpt_4layer"), HOSTS, changed)))

    def test_one_line_for_a_program_and_its_variants_below(self):
        text = hbmview("report", self.root).out
        table = [line for line in text.splitlines() if "HBM " in line]
        self.assertEqual(len(table), 1, text)
        self.assertRegex(table[0], r"host-017 +jit_train_step\(1\) +HBM +6\.86 GiB")
        words = " ".join(text.split())
        self.assertIn("jit_train_step(1) is compiled in 2 variants: 1 host (host-017) with 6.86 GiB at the peak, "
                      "255 hosts (host-000 +254) with 500.51 MiB at the peak.", words)

    def test_json_has_both_in_one_family(self):
        modules = hbmview("report", self.root, "--format=json", "--top=1").json()["modules"]
        self.assertEqual([(len(one.get("hosts", [one["host"]])), one["family"]) for one in modules],
                         [(255, 0), (1, 0)])


if __name__ == "__main__":
    unittest.main()
