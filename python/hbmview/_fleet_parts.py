"""The table on disk, or in a bucket: Parquet files by date, each written whole or not at all.

    OUT/date=2026-11-03/part-20261104T020000-9f3c2a-00017.parquet      the sessions of one task
        date=2026-11-04/part-...

A part's name is given before the task begins, so a task that is run again after its machine died writes the same file
again, not a second one. Where a session was read anew (it changed, it had failed), `tidy` takes it out of the part that
it was in. Each session has one row of kind "session": by these rows it is known what is
there.
"""

from __future__ import annotations

import posixpath
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Set

try:
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet as pq
    from pyarrow import fs
except ImportError as error:
    raise ImportError("hbmview.fleet writes Parquet with pyarrow: pip install 'hbmview[fleet]'") from error

from ._fleet_rows import COLUMNS, Row, row_schema

_TYPES = {
    "string": pa.string(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("s"),
}
PARTITION = "date"
_READS_AT_ONCE = 16


def table_schema() -> pa.Schema:
    """Of all rows, as `rows_of` makes them."""
    notes = {name: {"description": note} for name, _, note in COLUMNS}
    return pa.schema([pa.field(name, _TYPES[kind], metadata=notes[name]) for name, kind in row_schema()])


def part_schema() -> pa.Schema:
    """Of the files: the partition is told by the folder."""
    schema = table_schema()
    return schema.remove(schema.get_field_index(PARTITION))


class Present(NamedTuple):
    """A session as it is in a part."""

    path: str
    version: str
    state: str
    asked: str
    part: str  # relative to the table


class Parts:
    """A table of parts, at a path or an address that Arrow knows (s3://, gs://)."""

    def __init__(self, out: str):
        self.out = out
        self.filesystem: Any
        self.root: str
        self.filesystem, self.root = fs.FileSystem.from_uri(out) if "://" in out else (fs.LocalFileSystem(), out)

    def names(self) -> List[str]:
        """Of all parts, the earliest run's first."""
        infos = self.filesystem.get_file_info(fs.FileSelector(self.root, allow_not_found=True, recursive=True))
        paths = (posixpath.relpath(info.path, self.root) for info in infos if info.type == fs.FileType.File)
        parts = (path for path in paths if path.endswith(".parquet") and not posixpath.basename(path).startswith("."))
        return sorted(parts, key=posixpath.basename)

    def present(self) -> List[Present]:
        """All sessions that are there, part by part in their order."""
        with ThreadPoolExecutor(_READS_AT_ONCE) as pool:
            return [session for part in pool.map(self._present_in, self.names()) for session in part]

    def _present_in(self, name: str) -> List[Present]:
        columns = [column for column in Present._fields if column != "part"]
        rows = self._read(name, columns, [("kind", "=", "session")]).to_pylist()
        return [Present(part=name, **row) for row in rows]

    def write(self, name: str, rows: Iterable[Row]) -> int:
        """One part, whole or not at all. How many rows it has."""
        rows = [{key: value for key, value in row.items() if key != PARTITION} for row in rows]
        self._write(name, pa.Table.from_pylist(rows, part_schema()))
        return len(rows)

    def tidy(self, present: Iterable[Present], is_good: Callable[[Present], bool]) -> int:
        """Of sessions that are there more than once, the one that is good is kept, of these the last. How many went."""
        kept: Dict[str, Present] = {}
        superseded: Dict[str, Set[str]] = {}
        for session in present:
            other = kept.get(session.path)
            if other is None or is_good(session) >= is_good(other):
                kept[session.path] = session
            if other is not None:
                goes = other if kept[session.path] is session else session
                superseded.setdefault(goes.part, set()).add(goes.path)
        for name, paths in superseded.items():
            self._take_out(name, paths)
        return sum(map(len, superseded.values()))

    def _take_out(self, name: str, paths: Set[str]) -> None:
        table = self._read(name)
        kept = table.filter(pa.compute.invert(pa.compute.is_in(table["path"], pa.array(sorted(paths)))))
        if kept.num_rows:
            self._write(name, kept)
        else:
            self.filesystem.delete_file(posixpath.join(self.root, name))

    def _read(self, name: str, columns: Any = None, filters: Any = None) -> pa.Table:
        path = posixpath.join(self.root, name)
        return pq.read_table(path, columns=columns, filters=filters, filesystem=self.filesystem, partitioning=None)

    def _write(self, name: str, table: pa.Table) -> None:
        buffer = pa.BufferOutputStream()
        pq.write_table(table, buffer, compression="zstd")
        path = posixpath.join(self.root, name)
        if not isinstance(self.filesystem, fs.LocalFileSystem):  # an object appears whole
            self._put(path, buffer.getvalue())
            return
        folder, base = posixpath.split(path)
        draft = posixpath.join(folder, f".{base}.{uuid.uuid4().hex}")
        self.filesystem.create_dir(folder, recursive=True)
        self._put(draft, buffer.getvalue())
        self._publish(draft, path)

    def _put(self, path: str, content: pa.Buffer) -> None:
        with self.filesystem.open_output_stream(path) as stream:
            stream.write(content)

    def _publish(self, draft: str, path: str) -> None:
        self.filesystem.move(draft, path)


def part_name(date: str, run_id: str, number: int) -> str:
    return f"{PARTITION}={date}/part-{run_id}-{number:05d}.parquet"


