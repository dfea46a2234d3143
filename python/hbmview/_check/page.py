"""Where an open page shows how far a check is: one POST of the whole state to /api/v1/check/progress.

    "http://hub:6006/tools/?run=a", token  ->  Page  --state-->  hbmview's server, which keeps the newest

The address is the page's own, as a browser shows it. The token is that of the address (?token=...), else of a file's
first line, else HBMVIEW_TOKEN; it goes into a header, and to no other address: redirections are not followed.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Optional

from .._run import PathLike, UsageError

_TIMEOUT_SECONDS = 5.0
_ANSWER_MOST = 64 << 10
_HERE = ("localhost", "127.0.0.1", "::1")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")  # what a header may have, of RFC 6750


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *asked: Any) -> None:
        """None: the redirection is the answer."""


class Page:
    """A server of hbmview's, by the address of its page."""

    def __init__(self, address: str, token: Optional[str]) -> None:
        self._at, self._token = address, token
        near = [urllib.request.ProxyHandler({})] if urllib.parse.urlsplit(address).hostname in _HERE else []
        self._opener = urllib.request.build_opener(_NoRedirection, *near)

    def tell(self, session: str, module: str, state: Dict[str, Any]) -> Optional[str]:
        """Sends the state. What went wrong, as a sentence; None: nothing."""
        query = urllib.parse.urlencode({"session": session, "module": module}, errors="surrogateescape")
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        asked = urllib.request.Request(f"{self._at}api/v1/check/progress?{query}", json.dumps(state).encode(), headers)
        try:
            with self._opener.open(asked, timeout=_TIMEOUT_SECONDS) as answer:
                answer.read(_ANSWER_MOST)
        except urllib.error.HTTPError as error:
            with error:
                return _refusal(error)
        except urllib.error.URLError as error:
            return f"{self._at} does not answer: {error.reason}"
        except (OSError, ValueError, http.client.HTTPException) as error:
            return f"{self._at} does not answer: {error}"
        return None


def page_of(address: str, token_file: Optional[PathLike] = None) -> Page:
    """The page at that address. Raises UsageError: it is none, or the token is none, or the file has none."""
    parts = _parts(address)
    folder = parts.path[:parts.path.rfind("/") + 1] or "/"
    base = urllib.parse.urlunsplit((parts.scheme, parts.netloc, folder, "", ""))
    given = urllib.parse.parse_qs(parts.query).get("token", [None])[0]
    return Page(base, _checked(given or _token(token_file)))


def _parts(address: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname:
            return parts
    except ValueError:  # such as a bracket that is not closed
        pass
    wanted = "--page wants the address of the page, such as http://localhost:6006/"
    raise UsageError(f'{wanted}, not "{address}"', 2, [])


def _checked(token: Optional[str]) -> Optional[str]:
    """The token; what is none is not repeated, it may be a secret all the same."""
    if token is None or _TOKEN.fullmatch(token):
        return token
    raise UsageError("--page: the token has characters that no token has; letters, digits and ._~+/=- are its", 2, [])


def _token(file: Optional[PathLike]) -> Optional[str]:
    if file is None:
        return os.environ.get("HBMVIEW_TOKEN", "").partition("\n")[0].strip() or None
    try:
        with open(file, encoding="utf-8") as lines:
            token = lines.readline().strip()
    except (OSError, ValueError) as error:
        raise UsageError(f"--token_file: {error}", 2, []) from None
    if not token:
        raise UsageError(f"--token_file: the first line of {os.fspath(file)} is empty", 2, [])
    return token


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        told = json.loads(error.read(_ANSWER_MOST))["error"]["message"]
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        told = f"{error.reason}; is it the address of an hbmview page?"
    return f"the page answered {error.code}: {told}"
