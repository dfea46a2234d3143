"""Log directories made for a test, out of the fixtures' profiles."""
import contextlib
import gzip
import os
import pathlib
import shutil
import tempfile

from server_fixture import FIXTURES

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"


def xplane(session):
    """The bytes of the first xplane file of a fixture's session, inflated."""
    path = sorted(PROFILES.joinpath(session).glob("*.xplane.pb*"))[0]
    data = path.read_bytes()
    return gzip.decompress(data) if path.name.endswith(".gz") else data


@contextlib.contextmanager
def folder(files):
    """A log directory with {"session/file": bytes}; a name may be bytes that are no UTF-8."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="hbmview-test-"))
    try:
        for name, data in files.items():
            place = os.path.join(os.fsencode(root), b"plugins/profile", os.fsencode(name))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(data)
            age(place)
        yield root
    finally:
        shutil.rmtree(os.fsencode(root))


def age(place):
    """Makes a file look finished: what changed a moment ago may still be being written."""
    os.utime(place, (1_700_000_000, 1_700_000_000))


def listing(root):
    """Every path below root with its size and times, to see that nothing was touched."""
    found = {}
    for folder_path, folders, files in os.walk(os.fsencode(root)):
        for name in folders + files:
            place = os.path.join(folder_path, name)
            status = os.lstat(place)
            found[place] = (status.st_size, status.st_mtime_ns, status.st_ino, status.st_mode)
    return found
