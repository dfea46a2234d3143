"""The page's own files: from the program, below deep links, and from a folder (--web_dir)."""
import os
import pathlib
import re
import shutil
import tempfile
import unittest
import urllib.parse

from server_fixture import REPO, FixturesServed, Server

TYPES = {"index.html": "text/html; charset=utf-8", "js/main.js": "text/javascript; charset=utf-8",
         "css/base.css": "text/css; charset=utf-8", "favicon.svg": "image/svg+xml", "a.json": "application/json",
         "picture.png": "image/png", "words": "text/html; charset=utf-8", "a.unknown": "application/octet-stream"}


class FromTheProgram(FixturesServed):
    def script(self):
        return re.search(r'(?:src|href)="(?:\./)?(assets/[^"]+\.js)"', self.server.get("/").body.decode())[1]

    def test_a_deep_link_finds_the_files_at_the_root(self):
        whole = self.server.get("/" + self.script())
        for folder in ("/a/", "/a/b/", "/a/b/c/d/"):
            self.assertEqual(self.server.get(folder).body, self.server.get("/").body)
            answer = self.server.get(folder + self.script())
            self.assertEqual(answer.status, 303, answer)
            found = urllib.parse.urljoin(folder + self.script(), answer.headers["Location"])
            self.assertEqual(found, "/" + self.script())
        self.assertEqual((whole.status, whole.headers["Content-Type"]), (200, TYPES["js/main.js"]))

    def test_no_way_up_that_is_longer_than_any_link(self):
        self.assertEqual(self.server.get("/a" * 40 + "/" + self.script()).status, 404)

    def test_browsers_that_ask_for_an_icon_get_no_error(self):
        self.assertIn(self.server.get("/favicon.ico").status, (200, 204))


class FromAFolder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="hbmview-web-")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name, "web")
        shutil.copytree(REPO / "web", self.folder)
        for name in TYPES:
            if not (self.folder / name).exists() and "." in name:
                (self.folder / name).write_bytes(b"of " + name.encode())
        pathlib.Path(kept.name, "outside.js").write_text("secret")
        self.server = self.enterContext(Server(f"--web_dir={self.folder}"))

    def test_files_are_those_of_the_folder_with_their_types(self):
        for name, content_type in TYPES.items():
            answer = self.server.get("/" + name)
            of = self.folder / (name if "." in name else "index.html")
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, content_type), name)
            self.assertEqual(answer.body, of.read_bytes(), name)

    def test_a_change_is_seen_at_once(self):
        (self.folder / "a.json").write_text("another")
        self.assertEqual(self.server.get("/a.json").body, b"another")
        (self.folder / "a.json").unlink()
        self.assertEqual(self.server.get("/a.json").status, 404)

    def test_what_is_no_file_is_not_waited_for(self):
        os.mkfifo(self.folder / "pipe.js")
        (self.folder / "folder.js").mkdir()
        for name in ("pipe.js", "folder.js"):
            self.assertEqual(self.server.get(f"/{name}").status, 404, name)

    def test_nothing_outside_of_it(self):
        for path in ("/../outside.js", "/%2e%2e/outside.js", "/js/../../outside.js", "//etc/passwd.js"):
            answer = self.server.request("GET", path)
            self.assertEqual(answer.status, 404, (path, answer))
            self.assertNotIn(b"secret", answer.body)


if __name__ == "__main__":
    unittest.main()
