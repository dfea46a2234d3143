"""`hbmview.table(path)`: a report as an Arrow table, for pandas, polars, DuckDB and Parquet.

    of="buffers"   a row for each buffer that is live at a program's peak
    of="groups"    a row for each line (or argument, scope, ...: `by`) that holds memory there
    of="modules"   a row for each program and memory space: its peak, and what it is made of

Each row begins with the program that it is about. Bytes are int64; what has no answer is null. The only file that needs
pyarrow besides hbmview.fleet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Tuple, Union

from ._questions import report
from ._run import PathLike

if TYPE_CHECKING:
    import pyarrow

_PROGRAM = (
    ("session", "string"), ("host", "string"), ("module", "string"), ("program_id", "string"),
    ("memory_space", "string"),
)
_BUFFER = (
    ("logical_buffer_id", "int64"), ("name", "string"), ("opcode", "string"), ("size_bytes", "int64"),
    ("unpadded_bytes", "int64"), ("shape", "string"), ("category", "string"), ("op_name", "string"),
    ("source", "string"), ("start_step", "int64"), ("end_step", "int64"),
)
_GROUP = (
    ("by", "string"), ("step", "int64"), ("key", "string"), ("size_bytes", "int64"), ("padding_bytes", "int64"),
    ("buffers", "int64"), ("share", "float64"),
)
_MODULE = (
    ("peak_bytes", "int64"), ("peak_position", "int64"), ("total_allocation_bytes", "int64"),
    ("indefinite_bytes", "int64"), ("parameter_bytes", "int64"), ("output_bytes", "int64"), ("aliased_bytes", "int64"),
    ("constant_bytes", "int64"), ("thread_local_bytes", "int64"), ("temporary_bytes", "int64"),
    ("fragmentation_bytes", "int64"), ("padding_bytes", "int64"), ("notes", "list<string>"),
)
COLUMNS: Dict[str, Tuple[Tuple[str, str], ...]] = {
    "buffers": _PROGRAM + _BUFFER, "groups": _PROGRAM + _GROUP, "modules": _PROGRAM + _MODULE,
}


def table(
    path: PathLike,
    of: str = "buffers",
    *,
    by: Optional[str] = None,
    session: Optional[str] = None,
    module: Optional[str] = None,
    memory_space: Optional[Union[str, int]] = None,
    **more: Any,
) -> pyarrow.Table:
    """The programs under `path` as a pyarrow.Table: `of` "buffers" (at the peak), "groups" or "modules".

    `by` says what groups are (source; see `hbmview.report`), and further options are the report's. A file that cannot
    be read among others that can is a ReadWarning. Of thousands of sessions `hbmview.fleet` makes a table in Parquet.
    """
    if of not in COLUMNS:
        raise ValueError(f'a table is of {", ".join(COLUMNS)}, not of "{of}"')
    if by and of != "groups":
        raise ValueError(f'by="{by}" says what groups are: table(path, of="groups", by="{by}")')
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("hbmview.table needs pyarrow: pip install 'hbmview[fleet]' (or just pyarrow)") from error
    asked = (by or "source") if of == "groups" else None
    answer = report(path, asked, session=session, module=module, memory_space=memory_space, **more)
    types = {"string": pyarrow.string(), "int64": pyarrow.int64(), "float64": pyarrow.float64(),
             "list<string>": pyarrow.list_(pyarrow.string())}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS[of]])
    return pyarrow.Table.from_pylist(list(_rows(answer, of)), schema=schema)


def _rows(answer: Dict[str, Any], of: str) -> Iterator[Dict[str, Any]]:
    for module in answer["modules"]:
        number = module["program_id"]
        program = {**{name: module[name] for name in ("session", "host", "module")},
                   "program_id": None if number is None else str(number)}
        for space in module["memory_spaces"]:
            about = {**program, "memory_space": space["name"]}
            if of == "modules":
                yield {**about, **space}
            elif of == "buffers":
                yield from ({**about, **buffer} for buffer in space["buffers_at_peak"])
            elif space.get("groups"):
                groups = space["groups"]
                yield from ({**about, "by": groups["by"], "step": groups["step"], **row} for row in groups["rows"])
