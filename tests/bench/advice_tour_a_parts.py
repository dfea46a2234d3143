"""What the two servers among these programs share: weights that may be stored in int8, and how they are multiplied."""
import jax
import jax.numpy as jnp


def stored(shapes, kind, is_quantized, stacked=0):
    """Shapes as abstract weights; matrices in int8 with a scale for each column, if asked. `stacked`: leading axes."""
    def one(shape):
        if is_quantized and len(shape) - stacked >= 2:
            return {"int8": jax.ShapeDtypeStruct(shape, jnp.int8),
                    "scale": jax.ShapeDtypeStruct((*shape[:-2], shape[-1]), jnp.float32)}
        return jax.ShapeDtypeStruct(shape, kind)
    return jax.tree.map(one, shapes, is_leaf=lambda node: isinstance(node, tuple))


def matmul(x, weight):
    """x @ weight, in the type of x."""
    if isinstance(weight, dict):
        return (x @ weight["int8"].astype(x.dtype)) * weight["scale"].astype(x.dtype)
    return x @ weight.astype(x.dtype)


def lookup(table, ids, kind):
    if isinstance(table, dict):
        return table["int8"][ids].astype(kind) * table["scale"].astype(kind)
    return table[ids].astype(kind)


def unembed(x, table):
    """Logits in float32 of a table that also embeds."""
    if isinstance(table, dict):
        x, table = x * table["scale"].astype(x.dtype), table["int8"]
    return jnp.einsum("...d,vd->...v", x, table.astype(x.dtype), preferred_element_type=jnp.float32)
