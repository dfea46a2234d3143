"""Where dumps lie: a folder of the user's, which stays, or one that goes with the result that needs it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from typing import Container, Optional, Tuple

from .targets import FitError


class KeptFolder:
    """A folder of its own, which is removed when nobody holds this any more, or Python ends."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="hbmview-fit-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def dump_folder(wanted: Optional[str]) -> Tuple[Optional[KeptFolder], str]:
    """What must be held as long as the folder is needed (None: it stays), and the folder, which is empty."""
    if wanted is None:
        kept = KeptFolder()
        return kept, kept.name
    folder = os.path.abspath(wanted)
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise FitError(f"{folder} is not empty: the dump of a compile needs a folder of its own", exit_code=2)
    return None, folder


def session_name(name: str, taken: Container[str]) -> str:
    """A name of a folder for the variant `name`: "batch/2" is batch_2."""
    plain = re.sub(r"[^A-Za-z0-9._=+-]+", "_", name).strip(".") or "variant"
    made, count = plain, 2
    while made in taken:
        made, count = f"{plain}_{count}", count + 1
    return made
