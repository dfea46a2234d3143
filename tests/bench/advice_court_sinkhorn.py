"""A mixture of experts whose tokens are dealt out by Sinkhorn's balancing (as Megatron's router does), in equinox.

The maker takes its Arrays and Change, and gives (step, arguments, donated). The model is of one sequence and mapped
over the batch; a plan that fills the experts evenly chooses, sigmoids weigh; layers are a list, sizes Granite's.
"""
import equinox as eqx
import jax
import jax.numpy as jnp

from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, cross_entropy, decayed, optax_step


def turned(x, base=10000.0):
    """Rotary positions of [length, heads, side]."""
    half = x.shape[-1] // 2
    rates = base ** (-jnp.arange(half, dtype=F32) / half)
    angles = (jnp.arange(x.shape[0], dtype=F32)[:, None] * rates)[:, None]
    cos, sin = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def balanced(scores, rounds=8):
    """The plan whose rows and columns have equal sums."""
    cost = jnp.exp(scores - scores.max())
    rows, columns = scores.shape

    def again(_, state):
        down, _ = state
        across = 1 / (rows * (cost @ down + 1e-8))
        return 1 / (columns * (across @ cost + 1e-8)), across
    down, across = jax.lax.fori_loop(0, rounds, again, (jnp.ones(columns, F32), jnp.ones(rows, F32)))
    return across[:, None] * cost * down


class Attention(eqx.Module):
    q: eqx.nn.Linear
    kv: eqx.nn.Linear
    o: eqx.nn.Linear
    heads: int = eqx.field(static=True)
    groups: int = eqx.field(static=True)

    def __init__(self, width, heads, groups, key):
        keys, side = jax.random.split(key, 3), width // heads
        self.q = eqx.nn.Linear(width, width, use_bias=False, key=keys[0])
        self.kv = eqx.nn.Linear(width, 2 * groups * side, use_bias=False, key=keys[1])
        self.o = eqx.nn.Linear(width, width, use_bias=False, key=keys[2])
        self.heads, self.groups = heads, groups

    def __call__(self, x):
        length = x.shape[0]
        q = turned(jax.vmap(self.q)(x).reshape(length, self.heads, -1))
        k, v = jnp.split(jax.vmap(self.kv)(x).reshape(length, 2 * self.groups, -1), 2, axis=1)
        q = q.reshape(length, self.groups, self.heads // self.groups, -1)
        scores = jnp.einsum("qgrd,kgd->grqk", q, turned(k)).astype(F32) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
        mixed = jnp.einsum("grqk,kgd->qgrd", jax.nn.softmax(scores).astype(x.dtype), v)
        return jax.vmap(self.o)(mixed.reshape(length, -1))


class Experts(eqx.Module):
    router: jax.Array
    gate_up: jax.Array
    down: jax.Array
    each: int = eqx.field(static=True)
    slack: float = eqx.field(static=True)

    def __init__(self, width, hidden, experts, each, slack, key):
        keys = jax.random.split(key, 3)
        self.router = jax.random.normal(keys[0], (width, experts)) * 0.02
        self.gate_up = jax.random.normal(keys[1], (experts, width, 2 * hidden)) * width ** -0.5
        self.down = jax.random.normal(keys[2], (experts, hidden, width)) * hidden ** -0.5
        self.each, self.slack = each, slack

    def __call__(self, x):
        (length, width), experts = x.shape, self.router.shape[1]
        room = int(self.slack * length * self.each / experts)
        scores = (x @ self.router).astype(F32)
        _, chosen = jax.lax.top_k(balanced(jax.lax.stop_gradient(scores)), self.each)
        gates = jax.nn.sigmoid(jnp.take_along_axis(scores, chosen, axis=1)).astype(x.dtype)
        owner = chosen.reshape(-1)
        before = jnp.cumsum(jax.nn.one_hot(owner, experts, dtype=jnp.int32), axis=0) - 1
        place = jnp.take_along_axis(before, owner[:, None], axis=1)[:, 0]
        slot = jnp.where(place < room, owner * room + place, experts * room)
        seats = jnp.zeros((experts * room, width), x.dtype).at[slot].set(jnp.repeat(x, self.each, axis=0), mode="drop")
        gate, up = jnp.split(jnp.einsum("ecd,edf->ecf", seats.reshape(experts, room, width), self.gate_up), 2, -1)
        out = jnp.einsum("ecf,efd->ecd", jax.nn.silu(gate) * up, self.down).reshape(experts * room, width)
        back = out.at[slot].get(mode="fill", fill_value=0).reshape(length, self.each, width)
        return jnp.einsum("lkd,lk->ld", back, gates)


class Block(eqx.Module):
    norm1: eqx.nn.RMSNorm
    norm2: eqx.nn.RMSNorm
    attention: Attention
    experts: Experts

    def __init__(self, width, heads, groups, hidden, experts, each, slack, key):
        keys = jax.random.split(key)
        self.norm1, self.norm2 = (eqx.nn.RMSNorm(width, use_bias=False) for _ in range(2))
        self.attention = Attention(width, heads, groups, keys[0])
        self.experts = Experts(width, hidden, experts, each, slack, keys[1])

    def __call__(self, x):
        x = x + self.attention(jax.vmap(self.norm1)(x))
        return x + self.experts(jax.vmap(self.norm2)(x))


class SinkhornLM(eqx.Module):
    embedding: eqx.nn.Embedding
    blocks: list
    norm: eqx.nn.RMSNorm

    def __init__(self, layers, width, vocab, key, **sizes):
        keys = jax.random.split(key, layers + 1)
        self.embedding = eqx.nn.Embedding(vocab, width, key=keys[0])
        self.blocks = [Block(width, key=one, **sizes) for one in keys[1:]]
        self.norm = eqx.nn.RMSNorm(width, use_bias=False)

    def __call__(self, ids, change):
        x = jax.vmap(self.embedding)(ids)
        for block in self.blocks:
            if change.rematerialize:
                block = eqx.filter_checkpoint(block, policy=checkpoint_policy(change))
            x = block(x)
        return jax.vmap(self.norm)(x) @ self.embedding.weight.T


def sinkhorn_lm(layers, width, vocab, batch, length, kind=BF16, **sizes):
    def make(arrays, change):
        import optax
        now = compute_dtype(change, kind)
        model = eqx.filter_eval_shape(SinkhornLM, layers, width, vocab, jax.random.key(0), **sizes)
        shapes, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

        def loss_of(params, ids, labels):
            model = eqx.combine(cast(params, now), static)
            return cross_entropy(jax.vmap(lambda one: model(one, change))(ids), labels)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4, b2=0.95, mask=decayed))
        words = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return optax_step(arrays, change, shapes, loss_of, optimizer, words, words)
    return make
