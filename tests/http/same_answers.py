"""Every question put to two servers: one of a folder on disk, one of the same files in a bucket.

    for question, here, there in asked_of_both(folder, "run", bucket):      # here, there: (status, body)
        here == there

Not pages to save, in which what differs (equal_part) is compressed. Under a sanitizer, which looks at the code rather
than at the answers, one in EACH of them.
"""
import itertools
import pathlib
import re
import urllib.parse

from every_question import every_question
from server_fixture import INSTRUMENTED, Server

EACH = 7 if INSTRUMENTED else 1
NOT_COMPARED = "/api/v1/save"


def equal_part(body, root):
    """What must be the same of an answer: all but where the files lie, when they were written (a bucket has the time of
    the upload), and the marks by which a page knows that they have changed."""
    same = re.sub(rb'"modified_s":\s*\d+', b'"modified_s":0', body.replace(root.encode(), b"ROOT"))
    return re.sub(rb'"version":"[0-9a-f]{16}"', b'"version":""', same)


def ask(server, question):
    if question.path == "/api/v1/memory_profile":
        return server.overview(question.query["session"])
    target = question.path + "?" + urllib.parse.urlencode(question.query)
    return server.request("GET" if question.body is None else "POST", target, body=question.body)


def asked_of_both(folder, prefix, bucket):
    root = str(pathlib.Path(folder, prefix).resolve())  # as the program tells it
    with Server(logdir=root) as local, \
            Server(logdir=bucket.url(prefix), environment=bucket.environment()) as remote:
        asked = (question for question in every_question(local) if question.path != NOT_COMPARED)
        for question in itertools.islice(asked, 0, None, EACH):
            here, there = ask(local, question), ask(remote, question)
            yield (question, (here.status, equal_part(here.body, root)),
                   (there.status, equal_part(there.body, bucket.url(prefix))))
