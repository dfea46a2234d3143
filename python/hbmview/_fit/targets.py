"""What a step is compiled for: chips that need not be here, or those that are.

    "v5e:4x4"   a TPU topology: libtpu knows it without a chip       -> sixteen devices, "v5e" for its capacity
    "cpu"       the devices of one of jax's own backends: cpu, gpu   -> what is here
    object      what jax.experimental.topologies made: GPU targets   -> its devices
    None        v5e:2x2 where libtpu is installed, else what is here

libtpu is made for machines with chips: without one it asks a metadata server, looks for its host among others and
locks the machine for one process. The variables that keep it from that are set while it is asked, and no longer.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from .._run import HbmviewError

DEFAULT = "v5e:2x2"
_BACKENDS = ("cpu", "gpu", "cuda", "rocm")

# Where there is no chip. The type is any that libtpu knows: it is the host's, not that of what is compiled for.
_WITHOUT_CHIP = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
}


class FitError(HbmviewError):
    """The step could not be compiled, for another reason than memory; what jax said of it is the cause."""

    def __init__(self, sentence: str, exit_code: int = 3):
        super().__init__(sentence, exit_code, ["fit"])


class Target(NamedTuple):
    """Devices to compile for."""

    name: str                # as the user says it: "v5e:2x2", "cpu"
    devices: List[Any]       # of jax
    capacity: Optional[str]  # of one device, as the program takes it: "v5e", "85899345920"; None where nobody knows


def target_of(topology: Any = None) -> Target:
    """The target that `topology` names. Raises FitError, which says what to write instead."""
    jax = imported_jax()
    if hasattr(topology, "devices"):
        return _described(topology)
    if topology is None:
        topology = DEFAULT if has_libtpu() else jax.default_backend()
    name = str(topology).strip()
    if name.lower() in _BACKENDS:
        return _here(jax, name.lower())
    if ":" not in name:
        raise FitError(
            f'the topology "{name}" is neither a TPU topology such as v5e:2x2, v6e:4x4 or v5p:2x2x1 (kind:chips) '
            f"nor one of jax's own backends, {', '.join(_BACKENDS)}", exit_code=2)
    return _tpu(name)


def imported_jax() -> Any:
    """jax, which nothing else of this package needs."""
    try:
        import jax
    except ImportError as error:
        raise FitError("compiling needs jax, which is not installed here: pip install 'jax[tpu]' (no chip is "
                       "needed)") from error
    return jax


def has_libtpu() -> bool:
    """Whether TPU topologies can be compiled for."""
    return importlib.util.find_spec("libtpu") is not None


def _tpu(name: str) -> Target:
    if not has_libtpu():
        raise FitError(
            f"{name} is compiled for by libtpu, which is not installed here: pip install 'jax[tpu]' (no chip is "
            'needed), or topology="cpu" for what XLA would need on this machine')
    from jax.experimental import topologies

    try:
        with _libtpu_environment():
            devices = list(topologies.get_topology_desc(name, platform="tpu").devices)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise FitError(
            f'libtpu knows no topology "{name}" ({said[0]}); it knows such as v5e:2x2, v6e:4x4, v5p:2x2x1', exit_code=2
        ) from error
    return Target(name, devices, name.split(":")[0])


def _here(jax: Any, backend: str) -> Target:
    try:
        with _libtpu_environment():  # jax looks at every backend, libtpu's among them
            devices = list(jax.devices(backend))
    except RuntimeError as error:
        raise FitError(f"jax has no {backend} here: {error}") from error
    return Target(backend, devices, None if backend == "cpu" else _memory_of(devices[0]))


def _described(topology: Any) -> Target:
    devices = list(topology.devices)
    name = f"{devices[0].device_kind} x {len(devices)}"
    return Target(name, devices, devices[0].device_kind)


def _memory_of(device: Any) -> str:
    """What the allocator may take of a device that is here, else the device by its name."""
    stats: Dict[str, int] = {}
    with contextlib.suppress(Exception):  # a device need not tell
        stats = device.memory_stats() or {}
    return str(stats.get("bytes_limit") or device.device_kind)


@contextlib.contextmanager
def _libtpu_environment() -> Iterator[None]:
    wanted = {} if _has_chip() else dict(_WITHOUT_CHIP)
    wanted["ALLOW_MULTIPLE_LIBTPU_LOAD"] = "1"  # whoever trains on the chips meanwhile keeps them
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _has_chip() -> bool:
    return bool(glob.glob("/dev/accel[0-9]*") or glob.glob("/dev/vfio/[0-9]*"))
