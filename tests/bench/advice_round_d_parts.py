"""What the serving programs of advice_round_*.py (language models) share: weights in int8 and products with them."""
import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Quantized:
    """A matrix (or a stack of them) in int8, with a scale for each column."""
    values: object
    scale: object


def quantized(change, tree, stacked=()):
    """The weights of two dimensions and more in int8, where the change asks for it; `stacked` have a layers axis."""
    def one(path, leaf):
        is_stacked = any(getattr(key, "key", getattr(key, "name", None)) in stacked for key in path)
        if leaf.ndim - is_stacked < 2:
            return leaf
        scale = (*leaf.shape[:-2], leaf.shape[-1])
        return Quantized(jax.ShapeDtypeStruct(leaf.shape, jnp.int8), jax.ShapeDtypeStruct(scale, jnp.float32))
    return jax.tree_util.tree_map_with_path(one, tree) if change.quantized else tree


def times(x, weight):
    """x @ weight, in the type of x."""
    if isinstance(weight, Quantized):
        return (x @ weight.values.astype(x.dtype)) * weight.scale.astype(x.dtype)
    return x @ weight.astype(x.dtype)


def looked_up(table, tokens, kind):
    if isinstance(table, Quantized):
        return table.values[tokens].astype(kind) * table.scale.astype(kind)
    return table[tokens].astype(kind)


def against(x, table):
    """x @ table.T, in float32: logits by a tied embedding."""
    if isinstance(table, Quantized):
        x, table = x * table.scale.astype(x.dtype), table.values
    return jnp.einsum("...d,vd->...v", x, table.astype(x.dtype), preferred_element_type=jnp.float32)
