"""`python -m hbmview fit`: see hbmview._fit.command."""

from ._fit.command import main

__all__ = ["main"]
