"""What the models of pictures, time and graphs of advice_board_*.py share: types, places on the chips, checkpoints,
micro-batches, updates."""
import jax
import jax.numpy as jnp

from advice_board_training import on_chips
from advice_exam_libraries import as_kind as cast  # noqa: F401, for the models

F32, BF16 = jnp.float32, jnp.bfloat16


def like(new, old):
    return jax.tree.map(lambda n, o: n.astype(o.dtype), new, old)


def specs(tree):
    """Shapes instead of tuples, in a tree of dictionaries and lists."""
    return jax.tree.map(lambda shape: jax.ShapeDtypeStruct(shape, F32), tree, is_leaf=lambda x: isinstance(x, tuple))


def computing(change, kind):
    """The type of activations in a program whose own is this."""
    return change.computed or (change.stored if change.follows else kind)


def laid_out(arrays, tree, stacks=None):
    return on_chips(arrays, tree, stacks, are_kernels=True)


def raw_key(arrays):
    return arrays.array((2,), jnp.uint32)


def policy_of(change):
    return getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None


def checkpointed(change, block):
    return jax.checkpoint(block, policy=policy_of(change)) if change.rematerialize else block


def summed_slopes(loss_of, parts):
    """Of loss_of(params, key, *batch) -> (loss, aux): loss, the aux of each part, gradients."""
    of_one = jax.value_and_grad(loss_of, has_aux=True)

    def of_whole(params, key, *batch):
        (loss, aux), slopes = of_one(params, key, *batch)
        return loss, jax.tree.map(lambda a: a[None], aux), slopes

    def of_parts(params, key, *batch):
        def one(sums, given):
            (loss, aux), slopes = of_one(params, *given)
            return jax.tree.map(jnp.add, sums, (loss, slopes)), aux
        split = jax.tree.map(lambda a: a.reshape(parts, a.shape[0] // parts, *a.shape[1:]), batch)
        keys = None if key is None else jax.random.split(key, parts)
        zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        sums, aux = jax.lax.scan(one, zeros, (keys, *split))
        loss, slopes = jax.tree.map(lambda total: total / parts, sums)
        return loss, aux, slopes
    return of_whole if parts == 1 else of_parts


def updated(optimizer, slopes, state, params):
    import optax
    updates, new = optimizer.update(slopes, state, params)
    return optax.apply_updates(params, updates), like(new, state)


def matrices_only(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)
