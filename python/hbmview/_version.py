"""The version of the installed package; "0+source" where it is used out of a checkout."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("hbmview")
except PackageNotFoundError:
    __version__ = "0+source"
