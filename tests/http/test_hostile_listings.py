"""Lists of objects that lie: names that are no files, pages without end, documents that grow. All of them end."""
import json
import pathlib
import shutil
import tempfile
import unittest

from bucket_server import BucketServer
from server_fixture import FIXTURES
from test_storage import serve

PROFILE = FIXTURES / "logdir/plugins/profile/v5e_matmul"
HEAD = '<?xml version="1.0"?><ListBucketResult>'


def listed(*names, after="", kind=""):
    entries = "".join(f"<Contents><Key>{name}</Key><Size>5</Size><ETag>x</ETag></Contents>" for name in names)
    more = f"<NextContinuationToken>{after}</NextContinuationToken>" if after else ""
    return f"{HEAD}{kind}{entries}{more}</ListBucketResult>".encode()


class HostileListings(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        shutil.copytree(PROFILE, pathlib.Path(folder, "run/plugins/profile/s"))
        self.bucket = self.enterContext(BucketServer(folder))

    def sessions(self, scheme, page):
        """What is answered when every page of a list is `page(number)`."""
        pages = []

        def fault(request):
            if "prefix=" not in request.query:
                return None
            pages.append(request.query)
            return 200, {}, page(len(pages))

        with serve(self.bucket, scheme, "run") as server:
            self.bucket.fault = fault
            answer = server.get("/api/v1/sessions")
            self.bucket.fault = None
        return answer, len(pages)

    def refused(self, scheme, page, most_pages, words):
        answer, pages = self.sessions(scheme, page)
        self.assertNotEqual(answer.status, 200)
        self.assertIn(words, answer.json()["error"]["message"])
        self.assertLessEqual(pages, most_pages)

    def test_entities_that_grow(self):
        bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + listed("run/&b;")
        self.refused("s3", lambda _: bomb, 1, "document type")

    def test_the_same_page_for_ever(self):
        self.refused("s3", lambda _: listed("run/a", after="again"), 3, "same page")
        again = json.dumps({"items": [{"name": "run/a", "size": "1", "generation": "1"}], "nextPageToken": "again"})
        self.refused("gs", lambda _: again.encode(), 3, "same page")

    def test_pages_for_ever(self):
        self.refused("s3", lambda number: listed(f"run/{number}", after=f"t{number}"), 300, "does not end")

    def test_a_document_that_is_cut(self):
        self.refused("s3", lambda _: listed("run/a")[:-9], 1, "list of objects")
        self.refused("gs", lambda _: b'{"items": [', 1, "list of objects")

    def test_a_page_that_is_too_large(self):
        self.refused("s3", lambda _: HEAD.encode() + b" " * (9 << 20), 1, "more than was asked for")

    def test_names_that_are_no_files(self):
        name = "run/plugins/profile/s/" + next(PROFILE.iterdir()).name
        odd = ("../../etc/passwd", "run/../x.xplane.pb", "run//x.xplane.pb", "run/./x.xplane.pb", "/x.xplane.pb",
               "run/", name)
        answer, _ = self.sessions("s3", lambda _: listed(*odd))
        self.assertEqual([session["name"] for session in answer.json()["sessions"]], ["s"])
        self.assertNotIn("passwd", answer.body.decode())


if __name__ == "__main__":
    unittest.main()
