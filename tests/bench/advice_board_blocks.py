"""What the served and tuned models of advice_board_*.py share: types, places on the chips, gradients in parts, steps.

There is no model here. Sizes are given to the makers of the other modules by advice_board_families.py.
"""
import jax
import jax.numpy as jnp

F32, BF16 = jnp.float32, jnp.bfloat16
WAYS = 4
SMALL = 2 ** 14  # arrays under this are copied to all chips


def compute_type(change, usual):
    if change.computed is not None:
        return change.computed
    return change.stored if change.follows else usual


def cast(tree, kind):
    """Floating arrays as another kind; integers stay."""
    return jax.tree.map(lambda a: a.astype(kind) if jnp.issubdtype(a.dtype, jnp.floating) else a, tree)


def stored_as(shapes, kind):
    """As cast(), of abstract arrays."""
    def one(leaf):
        return jax.ShapeDtypeStruct(leaf.shape, kind if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf.dtype)
    return jax.tree.map(one, shapes)


def place(arrays, shapes, axis=0):
    """Abstract arrays on the chips, large ones split at the axis or, if it does not divide, at another."""
    def one(leaf):
        can_split = leaf.size >= SMALL and any(size % WAYS == 0 for size in leaf.shape)
        return arrays.array(leaf.shape, leaf.dtype, min(axis, leaf.ndim - 1) if can_split else None)
    return jax.tree.map(one, shapes)


def for_rows(arrays, shape, kind, axis=0):
    """An array that has the batch at an axis and is no parameter: a cache, or what an encoder gave."""
    return arrays.array(shape, kind, axis if arrays.change.shard == "all" else None)


def checkpointed(change, block):
    if not change.rematerialize:
        return block
    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    return jax.checkpoint(block, policy=policy)


def rms_norm(x, weight, eps=1e-6):
    wide = x.astype(F32)
    normed = wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), axis=-1, keepdims=True) + eps)
    return normed.astype(x.dtype) * weight.astype(x.dtype)


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.astype(F32)
    centred = wide - wide.mean(-1, keepdims=True)
    normed = centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + eps)
    return normed.astype(x.dtype) * weight.astype(x.dtype) + bias.astype(x.dtype)


def rotate(x, positions, theta, turned=None):
    """Of [..., heads, side] at positions [...]; the first `turned` numbers of a head, or all, by halves."""
    turned = turned or x.shape[-1]
    half = turned // 2
    angles = positions[..., None, None] * theta ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    first, second, rest = x[..., :half].astype(F32), x[..., half:turned].astype(F32), x[..., turned:]
    both = jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)
    return jnp.concatenate([both.astype(x.dtype), rest], -1)


def token_loss(logits, targets, weights):
    """The mean cross entropy of the tokens that count."""
    logits = logits.astype(F32)
    picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    losses = (jax.nn.logsumexp(logits, -1) - picked) * weights
    return losses.sum() / jnp.maximum(weights.sum(), 1.0)


def mean_gradients(loss_of, parts):
    """The loss and its gradients, of the whole batch or of equal parts of it that are added up."""
    grad_of = jax.value_and_grad(loss_of)
    if parts == 1:
        return grad_of

    def in_parts(trained, *batch):
        pieces = jax.tree.map(lambda a: a.reshape(parts, a.shape[0] // parts, *a.shape[1:]), batch)

        def add(total, piece):
            return jax.tree.map(jnp.add, total, grad_of(trained, *piece)), None
        nothing = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, trained)
        total, _ = jax.lax.scan(add, nothing, pieces)
        return jax.tree.map(lambda a: a / parts, total)
    return in_parts


def optimized(arrays, change, shapes, optimizer, loss_of, batch, fixed=(), axis=0):
    """A step of an optax optimizer; loss_of(trained, *fixed, *batch), where what is fixed has no gradient."""
    import optax
    shapes = stored_as(shapes, change.stored)
    state = jax.eval_shape(optimizer.init, shapes)

    def train_step(trained, state, fixed, *batch):
        loss, grads = mean_gradients(lambda t, *rows: loss_of(t, *fixed, *rows), change.parts)(trained, *batch)
        updates, state = optimizer.update(grads, state, trained)
        return optax.apply_updates(trained, updates), state, loss
    return train_step, (place(arrays, shapes, axis), place(arrays, state, axis), fixed, *batch), (0, 1)
