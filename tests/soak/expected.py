"""What a fresh server answers, before the soak: every question of tests/http/every_question.py, as hashes.

    stable    sessions that nobody touches: one answer each
    moving    sessions that are replaced all the time: the answers of each version that they ever have

        { (path?query, body): { (status, sha256 of the body), ... } }

Questions about the log directory as a whole are not among them: sessions move in it.
"""
import hashlib
import json
import pathlib
import shutil
import tempfile
import urllib.parse

from every_question import every_question
from server_fixture import Server

ABOUT_ALL_SESSIONS = ("/api/v1/sessions", "/data/plugin/profile/runs", "/runs")


def target(question):
    return question.path + ("?" + urllib.parse.urlencode(question.query) if question.query else "")


def digest(body):
    return hashlib.sha256(body).hexdigest()


def document_of(body):
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def is_partial(body):
    """Whether an answer says of itself that hosts are still being read."""
    return document_of(body).get("complete") is False


def says_so(body):
    """The same, or that a file could not be."""
    hosts = document_of(body).get("hosts")
    unread = isinstance(hosts, list) and any(isinstance(host, dict) and host.get("error") for host in hosts)
    unsure = any("cannot be told now" in note for note in document_of(body).get("notes") or [])
    return is_partial(body) or bool(document_of(body).get("unreadable_files") or unread or unsure)


def is_of_a_session(question, session):
    named = question.query.get("session") or question.query.get("run")
    is_of_all = question.path in ABOUT_ALL_SESSIONS or (question.path == "/api/v1/explain" and not named)
    return not is_of_all and named != "gone" and session in (None, named)


def questions(logdir, session=None):
    """Those that a server on it can be asked; of one session alone when it is named."""
    with Server(logdir=logdir) as server:
        return {(target(question), question.body) for question in every_question(server)
                if is_of_a_session(question, session)}


def whole_answer(server, key):
    while True:
        answer = server.request("GET" if key[1] is None else "POST", key[0], body=key[1])
        if not is_partial(answer.body):
            return answer


def answers(logdir, keys):
    """Those of a fresh server, once it has read what it reads in the background."""
    with Server(logdir=logdir) as server:
        return {key: (answer.status, digest(answer.body)) for key in keys for answer in [whole_answer(server, key)]}


def answers_of_stable(logdir):
    return {key: {known} for key, known in answers(logdir, questions(logdir)).items()}


def answers_of_moving(session, versions):
    """What may be answered about a session that has the files of each of `versions` in turn."""
    with tempfile.TemporaryDirectory(prefix="hbmview-soak-") as root:
        logdirs = []
        for number, version in enumerate(versions):
            logdirs.append(pathlib.Path(root, str(number)))
            shutil.copytree(version, logdirs[-1] / "plugins" / "profile" / session)
        keys = sorted({key for logdir in logdirs for key in questions(logdir, session)}, key=str)
        known = [answers(logdir, keys) for logdir in logdirs]
    return {key: {of_version[key] for of_version in known} for key in keys}
