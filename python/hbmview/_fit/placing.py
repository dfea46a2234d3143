"""Puts the arguments of a step on the devices of a target.

    arrays, ShapeDtypeStructs, with or without shardings  ->  ShapeDtypeStructs on the target's devices

Nothing is allocated: of a real array its shape, type and sharding are taken. Without any sharding the step is one
device's. Where an argument has a mesh (of chips here, of the CPU's devices, of no devices at all) a mesh of the same
shape and names is made of the target's devices, and what has none is whole on each of them.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .targets import FitError, Target


class Placed(NamedTuple):
    """The arguments as jit's `lower` takes them."""

    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]
    default: Any  # the sharding of what has none, outputs of a step without arguments among them
    chips: int
    has_arrays: bool


def placed(target: Target, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Placed:
    """`args` and `kwargs` with every array on the target. What is no array (static arguments) stays as it is."""
    import jax

    leaves, shape_of_tree = jax.tree.flatten((tuple(args), dict(kwargs)))
    arrays = [leaf for leaf in leaves if _is_array(leaf)]
    meshes = [mesh for mesh in map(_mesh_of, arrays) if mesh is not None]
    default = _default(target, meshes)
    moved = [_moved(target, leaf, default) if _is_array(leaf) else leaf for leaf in leaves]
    new_args, new_kwargs = jax.tree.unflatten(shape_of_tree, moved)
    return Placed(new_args, new_kwargs, default, len(default.device_set), bool(arrays))


def mesh_on(target: Target, shape: Sequence[int], names: Sequence[str]) -> Any:
    """A mesh of the target's first devices."""
    import numpy
    from jax.sharding import Mesh

    wanted = 1
    for side in shape:
        wanted *= side
    if wanted > len(target.devices):
        raise FitError(
            f"the arguments are sharded over {wanted} devices, {target.name} has {len(target.devices)}: give a "
            "topology with at least as many, or a smaller mesh", exit_code=2)
    return Mesh(numpy.array(target.devices[:wanted]).reshape(tuple(shape)), tuple(names))


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")


def _mesh_of(leaf: Any) -> Optional[Any]:
    mesh = getattr(getattr(leaf, "sharding", None), "mesh", None)
    return None if mesh is None or mesh.empty else mesh


def _default(target: Target, meshes: List[Any]) -> Any:
    from jax.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding

    if not meshes:
        return SingleDeviceSharding(target.devices[0])
    return NamedSharding(_on_target(target, meshes[0]), PartitionSpec())


def _on_target(target: Target, mesh: Any) -> Any:
    """The mesh itself where it is of the target's devices already, else its like."""
    devices = getattr(mesh, "devices", None) if not _is_abstract(mesh) else None
    if devices is not None and set(devices.flat) <= set(target.devices):
        return mesh
    return mesh_on(target, list(mesh.shape.values()), list(mesh.shape.keys()))


def _is_abstract(mesh: Any) -> bool:
    from jax.sharding import AbstractMesh

    return isinstance(mesh, AbstractMesh)


def _moved(target: Target, leaf: Any, default: Any) -> Any:
    import jax
    from jax.sharding import NamedSharding

    sharding, mesh = getattr(leaf, "sharding", None), _mesh_of(leaf)
    on_host = getattr(sharding, "memory_kind", None) == "pinned_host"
    kind = {"memory_kind": "pinned_host"} if on_host else {}
    if sharding is not None and mesh is not None:
        new = NamedSharding(_on_target(target, mesh), sharding.spec, **kind)
    else:
        new = default.with_memory_kind("pinned_host") if on_host else default
    weak = {"weak_type": True} if getattr(leaf, "weak_type", False) else {}
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=new, **weak)
