"""In IPython and notebooks: `%load_ext hbmview`.

    %hbmview LOGDIR [--height=N] [--FLAG=VALUE ...]     the page, below the cell
    a cell that runs out of memory                      its explanation, below the traceback

Explanations hang on the event that a cell has ended, which comes after its traceback, and which others may hang on too.
Loaded after a cell that failed, the extension explains that one.
"""

from __future__ import annotations

import shlex
import sys
from typing import Any, Dict, Optional

from ._catch import explained, mark, marked
from ._dump import arranged, end_asking
from ._show import show

_HELP = """%hbmview [LOGDIR] [--height=PIXELS] [--session=S] [--tool=T] [--host=H] [--module=M] [--FLAG=VALUE ...]

Shows what fills the memory: of LOGDIR (a log directory, a file, gs://, s3://), else of a built-in sample. FLAG is
any of the server's: see `!hbmview --help`. {name} and $name are Python's variables."""

_loaded: Dict[int, "_Extension"] = {}  # by shell, of which there is nearly always one


class _Extension:
    """What is hung into a shell, and taken out again."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.dump = arranged()
        shell.register_magic_function(magic, "line", "hbmview")
        shell.events.register("post_run_cell", self.after_cell)

    def unload(self) -> None:
        self.shell.events.unregister("post_run_cell", self.after_cell)
        self.shell.magics_manager.magics["line"].pop("hbmview", None)

    def after_cell(self, result: Any = None) -> None:
        end_asking()
        error = _raised(result)
        if isinstance(error, Exception) and not marked(error)[0]:
            mark(error, explained(error, self.dump))
        _show_below(error)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext hbmview`"""
    if id(shell) not in _loaded:
        _loaded[id(shell)] = _Extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext hbmview`"""
    extension = _loaded.pop(id(shell), None)
    if extension:
        extension.unload()


def tell_after_cell(shell: Any) -> None:
    """Shows what there is to say of the exception that ends this cell, if it was explained."""

    def after_cell(result: Any = None) -> None:
        shell.events.unregister("post_run_cell", after_cell)
        _show_below(_raised(result))

    shell.events.register("post_run_cell", after_cell)


def magic(line: str) -> None:
    """%hbmview LOGDIR: see `%hbmview --help`."""
    words = shlex.split(line)
    if "--help" in words or "-h" in words:
        print(_HELP)
        return
    places = [word for word in words if not word.startswith("--")]
    if len(places) > 1:
        print(f"%hbmview takes one log directory, not {len(places)}; flags are written --FLAG=VALUE.\n\n{_HELP}",
              file=sys.stderr)
        return
    options = dict(_option(word) for word in words if word.startswith("--"))
    try:
        height = int(options.pop("height", 720))
    except ValueError:
        print("--height is a number of pixels.", file=sys.stderr)
        return
    show(places[0] if places else None, height, **options)


def _option(word: str) -> Any:
    name, equals, value = word[2:].partition("=")
    return name.replace("-", "_"), value if equals else True


def _raised(result: Any) -> Optional[BaseException]:
    """What ended the cell; that of a script which it ran with %run is known as the last traceback only."""
    error: Optional[BaseException] = getattr(result, "error_in_exec", None)
    return error if error is not None else getattr(sys, "last_value", None)


def _show_below(error: Optional[BaseException]) -> None:
    from IPython.display import display

    explanation = marked(error)[1]
    if explanation and not explanation.is_shown:
        explanation.is_shown = True
        display(explanation)
