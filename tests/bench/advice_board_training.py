"""What the models of advice_board_*.py share: casts, places on the chips, and a step of optax.

Two of the three authors split a weight along its longest axis. Once all had been judged, their weights were laid out
along the axis that the advice speaks of, since what it told was of another change than theirs.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind as cast

F32, BF16 = jnp.float32, jnp.bfloat16
WAYS = 4


def compute_dtype(change, base):
    """What the activations are in: the family's own type, unless a change names one or follows the parameters."""
    return change.computed or (change.stored if change.follows else base)


def abstract(shapes, kind=F32):
    """A tree of shapes as a tree of abstract arrays."""
    return jax.tree.map(lambda shape: jax.ShapeDtypeStruct(shape, kind), shapes,
                        is_leaf=lambda node: isinstance(node, tuple))


def split_axis(shape, stack, are_kernels):
    """The first that can be split but for that of the layers; of kernels the last, of other four the longest."""
    axes = [axis for axis in range(len(shape)) if axis != stack]
    can = [axis for axis in axes if shape[axis] % WAYS == 0]
    if len(axes) < 2 or not can:
        return None
    if len(axes) == 4 and are_kernels:
        return can[-1] if can[-1] == axes[-1] else can[0]
    return max(can, key=lambda axis: shape[axis]) if len(axes) == 4 else can[0]


def on_chips(arrays, tree, stacks=None, are_kernels=False):
    """A state on the chips. `stacks`: what holds stacked layers by its name, with the axis of the layers."""
    def one(path, leaf):
        names = {getattr(key, "key", getattr(key, "name", None)) for key in path}
        stack = next((axis for name, axis in (stacks or {}).items() if name in names), None)
        return arrays.array(leaf.shape, leaf.dtype, split_axis(leaf.shape, stack, are_kernels))
    return jax.tree_util.tree_map_with_path(one, tree)


def checkpoint_policy(change):
    return getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None


def maybe_checkpoint(change, block):
    return jax.checkpoint(block, policy=checkpoint_policy(change)) if change.rematerialize else block


def dealt(rows, parts):
    """[rows, ...] as [parts, rows / parts, ...], so that each part has rows of every chip."""
    return rows.reshape(rows.shape[0] // parts, parts, *rows.shape[1:]).swapaxes(0, 1)


def value_and_mean_grad(loss_of, parts):
    """Of the whole batch, or the mean over micro-batches that are run one after the other."""
    of_one = jax.value_and_grad(loss_of)

    def of_parts(params, *batch):
        def body(total, part):
            return jax.tree.map(jnp.add, total, of_one(params, *part)), None
        start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        total, _ = jax.lax.scan(body, start, jax.tree.map(lambda rows: dealt(rows, parts), batch))
        return jax.tree.map(lambda one: one / parts, total)
    return of_one if parts == 1 else of_parts


def optax_step(arrays, change, shapes, loss_of, optimizer, *batch, stacks=None):
    """(step, arguments, donated) of a loss of parameters and batch."""
    import optax
    params = cast(shapes, change.stored)
    opt_state = jax.eval_shape(optimizer.init, params)

    def train_step(params, opt_state, *batch):
        loss, grads = value_and_mean_grad(loss_of, change.parts)(params, *batch)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss
    return train_step, (on_chips(arrays, params, stacks), on_chips(arrays, opt_state, stacks), *batch), (0, 1)


def decayed(params):
    """Weight decay is for matrices."""
    return jax.tree.map(lambda p: p.ndim > 1, params)


def cross_entropy(logits, labels, weights=None):
    """In float32, over the labels that have a weight."""
    import optax
    losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), labels)
    if weights is None:
        return losses.mean()
    weights = weights.astype(F32)
    return (losses * weights).sum() / jnp.maximum(weights.sum(), 1.0)
