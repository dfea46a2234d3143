"""`python -m hbmview check`: see hbmview._check.command."""

from ._check.command import main

__all__ = ["main"]
