"""A program of a dump as XLA compiles it, without the Python that made it: what of jax is not public stands here.

    before_optimizations.hlo.pb  HloProto    -+
    before_optimizations.txt     HLO as text -+-> Program: StableHLO, replicas, partitions
                                                     |  (change.py edits it)
                                                     v
                                                  compiled(program, devices, options)

Tried with jax 0.10.1, 0.10.2 and 0.11.2. It does not run anything, and knows no dump's names. Whoever calls it has
imported jax in a process of its own: the compiler may end that (worker.py).
"""

from __future__ import annotations

import gzip
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple, Union


class Program(NamedTuple):
    """An MLIR module, in the context that it must be edited in."""

    module: Any  # jaxlib's ir.Module
    replicas: int
    partitions: int

    @property
    def chips(self) -> int:
        """Devices that it is compiled for."""
        return self.replicas * self.partitions


def program_of(path: str) -> Program:
    """Reads a file of a dump, .gz or not. Raises what jaxlib raises of one that is none."""
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir

    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        content = file.read()
    is_text = re.search(r"\.txt(\.gz)?$", path) is not None
    proto, replicas, partitions = _of_text(content.decode()) if is_text else _of_proto(content)
    stablehlo = xla_client._xla.mlir.hlo_to_stablehlo(proto)
    return Program(ir.Module.parse(stablehlo, mlir.make_ir_context()), replicas, partitions)


def compiled(program: Program, devices: List[Any], options: Dict[str, Any]) -> None:
    """Compiles for the first of `devices`; what is wanted of it lies in the dump. Raises jax's JaxRuntimeError."""
    import numpy
    from jax._src import compiler
    from jax._src.lib import xla_client

    used = devices[:program.chips]
    assigned = numpy.array(used, dtype=object).reshape(program.replicas, program.partitions)
    wanted = compiler.get_compile_options(program.replicas, program.partitions, assigned, options)
    wanted.executable_build_options.allow_spmd_sharding_propagation_to_output = [True]
    compiler.backend_compile_and_load(used[0].client, program.module, xla_client.DeviceList(tuple(used)), wanted, [])


# --- The two forms of a file ---

_MODULE_FIELD, _ASSIGNMENT_FIELD = 1, 15  # of HloProto, and of HloModuleProto (xla/service/hlo.proto)
_REPLICAS_FIELD, _PARTITIONS_FIELD = 1, 2  # of DeviceAssignmentProto


def _of_proto(content: bytes) -> Tuple[bytes, int, int]:
    module = _members(content).get(_MODULE_FIELD)
    if not isinstance(module, bytes):
        raise ValueError("the file holds no HloProto")
    assigned = _members(module).get(_ASSIGNMENT_FIELD, b"")
    counts = _members(assigned) if isinstance(assigned, bytes) else {}
    return module, _count(counts, _REPLICAS_FIELD), _count(counts, _PARTITIONS_FIELD)


def _of_text(content: str) -> Tuple[bytes, int, int]:
    from jax._src.lib import xla_client

    reader = getattr(xla_client, "hlo", xla_client._xla)  # jaxlib 0.10.2, and before
    proto = reader.hlo_module_from_text(content).as_serialized_hlo_module_proto()
    header = content.split("\n", 1)[0]
    counts = {name: int(number) for name, number in re.findall(r"\b(replica_count|num_partitions)=(\d+)", header)}
    return proto, counts.get("replica_count", 1), counts.get("num_partitions", 1)


def _count(members: Dict[int, Union[int, bytes]], field: int) -> int:
    found = members.get(field, 1)
    return found if isinstance(found, int) and found > 0 else 1


def _members(message: bytes) -> Dict[int, Union[int, bytes]]:
    return dict(_fields(message))


def _fields(message: bytes) -> Iterator[Tuple[int, Union[int, bytes]]]:
    """The fields of a protobuf message: numbers, and bytes of what has a length."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield tag >> 3, value
            continue
        size, at = _varint(message, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        yield tag >> 3, message[at:at + size]
        at += size


def _varint(message: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
