"""The figures of `hbmview report` against two that it does not share a line with: the compiler's own memory-usage
report (exact, for every program and memory space) and the peaks that XProf recorded.

Over tests/fixtures, and over ../shared/corpus where that is.
"""
import gzip
import json
import unittest

from hbmview_command import CORPUS, FIXTURES, hbmview

MIB = 1 << 20
CATEGORIES = ("parameter_bytes", "aliased_bytes", "output_bytes", "constant_bytes", "temporary_bytes")
DIFFERENT_PEAK = "XProf shows a peak of "
NO_XPROF = "XProf cannot show this memory space"


# --- The compiler's report: repeated 1 { 1 total bytes, 2 memory space (absent: 0), ... } ---

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message; a value is an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def usage_by_space(path):
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    spaces = {}
    for number, message in fields(data):
        if number == 1:
            space = dict(fields(message))
            spaces[space.get(2, 0)] = space.get(1, 0)
    return {space: total for space, total in spaces.items() if total}


# --- Comparing ---

def report(logdir, session):
    done = hbmview("report", logdir, "--session", session, "--format=json")
    assert done.code == 0, done
    return done.json()["modules"]


def spaces_of(module):
    return {space["space"]: space for space in module["memory_spaces"]}


class Against(unittest.TestCase):
    def check_compiler(self, root):
        reports = sorted((root / "memory_usage_reports").glob("*/*.memory-usage-report.pb*"))
        self.assertTrue(reports)
        for path in reports:
            name = path.name.split(".memory-usage-report")[0]
            with self.subTest(session=path.parent.name, module=name):
                modules = report(root / "logdir", path.parent.name)
                named = [module for module in modules if module["module"].split("(")[0] == name]
                self.assertEqual(len(named), 1, [module["module"] for module in modules])
                ours = {number: space["total_allocation_bytes"] + space["thread_local_bytes"]
                        for number, space in spaces_of(named[0]).items()}
                self.assertEqual(ours, usage_by_space(path))

    def check_sums(self, root):
        done = hbmview("report", root / "logdir", "--format=json")
        self.assertEqual(done.code, 0, done)
        modules = done.json()["modules"]
        self.assertTrue(modules)
        for module in modules:
            for space in module["memory_spaces"]:
                with self.subTest(session=module["session"], module=module["module"], space=space["name"]):
                    self.check_space(space)

    def check_space(self, space):
        self.assertEqual(sum(space[key] for key in CATEGORIES), space["total_allocation_bytes"])
        self.assertEqual(space["indefinite_bytes"] + space["temporary_bytes"], space["total_allocation_bytes"])
        sizes = [buffer["size_bytes"] for buffer in space["buffers_at_peak"]]
        self.assertEqual(sum(sizes), space["peak_bytes"])
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(space["buffers_at_peak_left_out"], 0)

    def check_xprof(self, root):
        answers = json.loads((root / "xprof_golden" / "index.json").read_text())
        checked, reports = 0, {}
        for answer in answers:
            query = answer["query"]
            if query.get("tag") != "memory_viewer" or answer["path"] != "data" or answer["status"] != 200:
                continue
            body = read_answer(root / "xprof_golden", answer["file"])
            peak_mib = json.loads(body).get("peakHeapMib") if body.startswith(b"{") else None
            if peak_mib is None:
                continue
            session = query["run"]
            if session not in reports:
                reports[session] = {m["module"]: spaces_of(m) for m in report(root / "logdir", session)}
            space = reports[session][query["module_name"]].get(int(query["memory_space"]))
            with self.subTest(session=session, module=query["module_name"], space=query["memory_space"]):
                checked += self.check_peak(space, round(peak_mib * MIB))
        self.assertGreater(checked, 10)

    def check_peak(self, space, xprof_bytes):
        """Equal, unless a note says which other peak XProf shows."""
        if space is None:
            self.assertEqual(xprof_bytes, 0)
            return 0
        said = [note for note in space["notes"] if note.startswith(DIFFERENT_PEAK)]
        if said:
            self.assertTrue(said[0].startswith(f"{DIFFERENT_PEAK}{xprof_bytes} bytes"), said)
            return 0
        if not any(note.startswith(NO_XPROF) for note in space["notes"]):
            self.assertEqual(space["peak_bytes"], xprof_bytes)
        return 1


def read_answer(folder, name):
    packed = folder / (name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()


class Fixtures(Against):
    def test_the_compilers_totals(self):
        self.check_compiler(FIXTURES)

    def test_categories_and_buffers_add_up(self):
        self.check_sums(FIXTURES)

    def test_xprofs_peaks(self):
        self.check_xprof(FIXTURES)


@unittest.skipUnless(CORPUS.is_dir(), "no corpus beside the repository")
class Corpus(Against):
    def test_the_compilers_totals(self):
        self.check_compiler(CORPUS)

    def test_categories_and_buffers_add_up(self):
        self.check_sums(CORPUS)

    def test_xprofs_peaks(self):
        self.check_xprof(CORPUS)


del Against  # not a test case of its own

if __name__ == "__main__":
    unittest.main()
