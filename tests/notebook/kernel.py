"""Notebooks run by a kernel of this environment, with the package of this checkout.

    with Kernel() as kernel:
        outputs = kernel.run("import hbmview")      what the cell shows, as a notebook keeps it
"""
import os
import pathlib
import sys
from unittest import mock

REPO = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
PROGRAM = str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())
CELL_SECONDS = 120

os.environ.update(HBMVIEW=PROGRAM, PYTHONPATH=str(REPO / "python"))
os.environ.pop("XLA_FLAGS", None)
sys.path.insert(0, str(REPO / "python"))

import nbclient  # noqa: E402  the environment above is the kernel's too
import nbformat  # noqa: E402


class Kernel:
    def __init__(self, **environment):
        self.notebook = nbformat.v4.new_notebook()
        self.client = nbclient.NotebookClient(self.notebook, timeout=CELL_SECONDS, allow_errors=True,
                                              kernel_name="python3")
        self.environment = environment

    def __enter__(self):
        with mock.patch.dict(os.environ, self.environment):
            self.setup = self.client.setup_kernel()
            self.setup.__enter__()
        return self

    def __exit__(self, *raised):
        self.setup.__exit__(*raised)

    def run(self, source):
        """The outputs of a cell."""
        self.notebook.cells.append(nbformat.v4.new_code_cell(source))
        index = len(self.notebook.cells) - 1
        return self.client.execute_cell(self.notebook.cells[index], index).outputs


def kinds(outputs):
    """In order: error, stream, display_data, execute_result."""
    return [one.output_type for one in outputs]
