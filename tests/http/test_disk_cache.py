"""What was read of a bucket is kept between runs where the user said; what is damaged is fetched anew."""
import os
import pathlib
import stat
import tempfile
import unittest

from bucket_server import SECRET, TOKEN, BucketServer
from server_fixture import Server
from test_ranges import Counted
from test_web_addresses import WebServer, run
from test_storage import MODULES, PROFILES, environment, run_folder, serve

SESSION = "v5e_matmul"


class DiskCache(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.kept = self.folder / "kept"
        run_folder(self.folder / "bucket", "run", SESSION, "v5e_padded")

    def files(self):
        return sorted(path for path in self.kept.rglob("*") if path.is_file())

    def view(self, scheme="s3", session=SESSION):
        """The answer of a fresh server, and which ranges it asked the bucket for."""
        with BucketServer(self.folder / "bucket") as bucket:
            with serve(bucket, scheme, "run", f"--disk_cache={self.kept}") as server:
                counted = Counted(bucket)
                answer = server.get("/api/v1/memory_view", {"session": session, "module": MODULES[session]})
                ranges = [asked for asked in counted.asked if asked.range]
        self.assertEqual(answer.status, 200, answer.body)
        return answer.body, ranges

    def view_again(self):
        """The bucket is at another address in every run, and that is part of what a block is called."""
        with BucketServer(self.folder / "bucket") as bucket:
            answers = []
            for _ in range(2):
                with serve(bucket, "s3", "run", f"--disk_cache={self.kept}") as server:
                    counted = Counted(bucket)
                    answer = server.get("/api/v1/memory_view", {"session": SESSION, "module": MODULES[SESSION]})
                    answers.append((answer.body, len([asked for asked in counted.asked if asked.range])))
                yield answers[-1]

    def test_the_second_run_asks_for_nothing(self):
        (first, ranges), (second, ranges_again) = self.view_again()
        self.assertGreater(ranges, 0)
        self.assertEqual(ranges_again, 0)
        self.assertEqual(first, second)

    def test_what_is_damaged_is_fetched_anew(self):
        for damage in (lambda content: content[:-1], lambda content: content[:40] + b"x" + content[41:],
                       lambda content: content + b"x", lambda content: b""):
            runs = self.view_again()
            first, _ = next(runs)
            for file in self.files():
                file.write_bytes(damage(file.read_bytes()))
            second, ranges = next(runs)
            self.assertEqual(first, second)
            self.assertGreater(ranges, 0)

    def test_a_new_version_is_another_object(self):
        with BucketServer(self.folder / "bucket") as bucket:
            bodies = []
            for source in (SESSION, "v5e_padded"):
                file = next((self.folder / "bucket/run/plugins/profile" / SESSION).iterdir())
                file.write_bytes(next((PROFILES / source).iterdir()).read_bytes())
                with serve(bucket, "gs", "run", f"--disk_cache={self.kept}") as server:
                    bodies.append(server.get("/module_list", {"run": SESSION, "tag": "memory_viewer"}).body)
            self.assertEqual(bodies, [MODULES[SESSION].encode(), MODULES["v5e_padded"].encode()])

    def test_files_are_the_users_alone_and_hold_no_secret(self):
        for scheme in ("s3", "gs"):
            self.view(scheme)
        self.assertTrue(self.files())
        for file in self.files():
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
            self.assertRegex(file.name, "^[0-9a-f]{64}$")
            for secret in (SECRET, TOKEN, "bucket"):
                self.assertNotIn(secret.encode(), file.read_bytes())

    def test_what_was_used_longest_ago_goes_and_other_files_stay(self):
        self.view()
        place = self.files()[0].parent
        note = place / "a note of the user's"
        note.write_text("stays")
        for number in range(40):
            path = place / f"{number:064x}"
            path.write_bytes(b"x" * (1 << 20))
            os.utime(path, (number, number))
        with BucketServer(self.folder / "bucket") as bucket, \
                serve(bucket, "s3", "run", f"--disk_cache={self.kept}", "--disk_cache_mib=16"):
            left = [path.name for path in self.files()]
        self.assertIn(note.name, left)
        self.assertIn(f"{39:064x}", left)
        self.assertNotIn(f"{0:064x}", left)
        self.assertLess(sum(path.stat().st_size for path in self.files()), 16 << 20)

    def test_not_in_a_log_directory(self):
        run_folder(self.folder, "local", SESSION)
        inside = self.folder / "local" / "kept"
        inside.mkdir()
        server = Server(f"--disk_cache={inside}", logdir=str(self.folder / "local"))
        self.assertIn("log directory", server.refusal())

    def test_without_it_nothing_is_written(self):
        before = sorted(self.folder.rglob("*"))
        with BucketServer(self.folder / "bucket") as bucket, serve(bucket, "s3", "run") as server:
            self.assertEqual(server.get("/module_list", {"run": SESSION, "tag": "memory_viewer"}).status, 200)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_what_has_no_sure_version_is_not_kept(self):
        file = next((PROFILES / SESSION).iterdir())
        for tells, is_kept in (("", False), ("date", False), ("etag", True)):
            with self.subTest(tells), WebServer({file.name: file}, tells=tells) as web:
                self.assertIn(MODULES[SESSION], run("report", web.url(file.name), f"--disk_cache={self.kept}").stdout)
                self.assertEqual(bool(self.files()), is_kept)

    def test_a_folder_that_others_can_write_to(self):
        (self.kept / "hbmview-blocks").mkdir(parents=True)
        (self.kept / "hbmview-blocks").chmod(0o777)
        with BucketServer(self.folder / "bucket") as bucket:
            server = Server(f"--disk_cache={self.kept}", logdir=bucket.url("s3", "run"),
                            environment=environment(bucket, "s3"))
            self.assertIn("others can write to it", server.refusal())

    def test_a_folder_that_cannot_be_written_is_told_at_the_start(self):
        with BucketServer(self.folder / "bucket") as bucket:
            server = Server(f"--disk_cache={self.folder}/no/such", logdir=bucket.url("s3", "run"),
                            environment=environment(bucket, "s3"))
            self.assertIn("give --disk_cache", server.refusal())


if __name__ == "__main__":
    unittest.main()
