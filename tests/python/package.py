"""The package of this checkout, with the program of $HBMVIEW (default build/hbmview): from package import hbmview."""
import os
import pathlib
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
PROGRAM = str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())

os.environ["HBMVIEW"] = PROGRAM
os.environ.pop("COLUMNS", None)
sys.path.insert(0, str(REPO / "python"))

import hbmview  # noqa: E402  the path above is for it

__all__ = ["FIXTURES", "PROFILES", "PROGRAM", "REPO", "hbmview"]
