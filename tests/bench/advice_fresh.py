"""A further exam of the advice, by an author who had read neither its rules nor any figure of it: language, trained.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
advice_fresh_text.py has more of language, advice_fresh_scenes.py pictures and sound, advice_fresh_serving.py what is
not trained, and advice_fresh_other.py graphs, tables and worlds.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, trained,
                                   warmed_up)
from advice_structures import BF16, F32


# --- What they share ---

def shaped(**shapes):
    """Abstract parameters of these shapes; a shape may be a dictionary of more."""
    return {name: shaped(**one) if isinstance(one, dict) else jax.ShapeDtypeStruct(one, F32)
            for name, one in shapes.items()}


def maybe_checkpointed(change, block):
    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    return jax.checkpoint(block, policy=policy) if change.rematerialize else block


def graded(loss_of, parts):
    """Loss and gradients of the whole batch, or the means of those of its parts, one after the other."""
    of_one = jax.value_and_grad(loss_of)

    def of_parts(params, *batch):
        def add(sums, part):
            return jax.tree.map(jnp.add, sums, of_one(params, *part)), None
        split = jax.tree.map(lambda rows: rows.reshape(parts, -1, *rows.shape[1:]), batch)
        zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        sums, _ = jax.lax.scan(add, zeros, split)
        return jax.tree.map(lambda total: total / parts, sums)
    return of_one if parts == 1 else of_parts


def trained_in_parts(arrays, change, shapes, loss_of, optimizer, *batch):
    import optax
    params = as_kind(shapes, change.stored)
    state = jax.eval_shape(optimizer.init, params)

    def train_step(params, state, *batch):
        loss, grads = graded(loss_of, change.parts)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss
    return train_step, (placed(arrays, params), placed(arrays, state), *batch), (0, 1)


def root_normed(x, scale):
    wide = x.astype(F32)
    return (wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


# --- Attention and loss by blocks ---

def attended_by_blocks(query, key, value, size):
    """Of [batch, time, heads, side]: a map over blocks of queries, and for each a scan over blocks of keys."""
    batch, length, heads, side = query.shape
    starts, within = jnp.arange(0, length, size), jnp.arange(size)

    def of_block(start):
        some = jax.lax.dynamic_slice_in_dim(query, start, size, 1) * side ** -0.5

        def look(carry, at):
            top, total, made = carry
            keys, values = (jax.lax.dynamic_slice_in_dim(x, at, size, 1) for x in (key, value))
            scores = jnp.einsum("bqhd,bkhd->bhqk", some, keys).astype(F32)
            scores = jnp.where((start + within)[:, None] >= at + within, scores, -1e30)
            higher = jnp.maximum(top, scores.max(-1))
            weights, fade = jnp.exp(scores - higher[..., None]), jnp.exp(top - higher)
            added = jnp.einsum("bhqk,bkhd->bhqd", weights.astype(value.dtype), values).astype(F32)
            return (higher, total * fade + weights.sum(-1), made * fade[..., None] + added), None
        none = jnp.zeros((batch, heads, size), F32)
        start_from = none - 1e30, none, jnp.zeros((batch, heads, size, side), F32)
        (_, total, made), _ = jax.lax.scan(jax.checkpoint(look), start_from, starts)
        return (made / total[..., None]).astype(value.dtype)
    made = jax.lax.map(of_block, starts)
    return jnp.einsum("nbhqd->bnqhd", made).reshape(query.shape)


def loss_by_pieces(x, table, targets, pieces):
    """Cross entropy of [words, width] without all of its logits: a scan over pieces of the vocabulary."""
    each = table.shape[0] // pieces

    @jax.checkpoint
    def add(carry, both):
        total, said = carry
        rows, first = both
        logits = (x @ rows.T).astype(F32)
        place = targets - first
        mine = jnp.take_along_axis(logits, jnp.clip(place, 0, each - 1)[:, None], -1)[:, 0]
        said = jnp.where((place >= 0) & (place < each), mine, said)
        return (jnp.logaddexp(total, jax.nn.logsumexp(logits, -1)), said), None
    start = jnp.full(targets.shape, -1e30, F32), jnp.zeros(targets.shape, F32)
    (total, said), _ = jax.lax.scan(add, start, (table.reshape(pieces, each, -1), each * jnp.arange(pieces)))
    return jnp.mean(total - said)


def mapped_blocks(layers, width, heads, hidden, vocabulary, batch, length, size, pieces, kind=BF16):
    """A GPT in plain functions, for long rows: neither all weights of attention nor all logits are ever there."""
    def make(arrays, change):
        layer = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, hidden), "down": (hidden, width),
                 "norm1": (width,), "norm2": (width,)}
        shapes = shaped(wte=(vocabulary, width), norm=(width,), **{f"h{i}": layer for i in range(layers)})
        rows = batch // change.batch_divisor, length // change.length_divisor + 1

        def block(p, x):
            qkv = root_normed(x, p["norm1"]) @ p["qkv"]
            query, key, value = (part.reshape(*x.shape[:2], heads, -1) for part in jnp.split(qkv, 3, -1))
            x = x + attended_by_blocks(query, key, value, size).reshape(x.shape) @ p["out"]
            return x + jax.nn.gelu(root_normed(x, p["norm2"]) @ p["up"]) @ p["down"]

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["wte"][ids[:, :-1]]
            for i in range(layers):
                x = maybe_checkpointed(change, block)(p[f"h{i}"], x)
            x = root_normed(x, p["norm"])
            return loss_by_pieces(x.reshape(-1, width), p["wte"], ids[:, 1:].reshape(-1), pieces)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(), arrays.batch(rows, jnp.int32))
    return make


# --- Mamba 2 ---

def sum_of_segments(x):
    """[..., time] -> [..., time, time]: what lies between each two places, nothing where the second comes later."""
    sums = jnp.cumsum(x, -1)
    between = sums[..., :, None] - sums[..., None, :]
    return jnp.where(jnp.tril(jnp.ones(between.shape[-2:], bool)), between, -jnp.inf)


def dual_states(x, decay, enter, leave):
    """Of [batch, chunk, time, head, side]; within a chunk by products, from chunk to chunk by a scan."""
    decay = jnp.moveaxis(decay, -1, 1)
    sums = jnp.cumsum(decay, -1)
    near = jnp.einsum("bcln,bcsn,bhcls,bcshp->bclhp", leave, enter, jnp.exp(sum_of_segments(decay)).astype(x.dtype), x)
    left = jnp.exp(sums[..., -1:] - sums).astype(x.dtype)
    made = jnp.einsum("bcln,bhcl,bclhp->cbhpn", enter, left, x)

    def pass_on(state, both):
        new, kept = both
        return state * kept[..., None, None] + new, state
    kept = jnp.moveaxis(jnp.exp(sums[..., -1]), 2, 0).astype(x.dtype)
    _, before = jax.lax.scan(pass_on, jnp.zeros_like(made[0]), (made, kept))
    return near + jnp.einsum("bcln,cbhpn,bhcl->bclhp", leave, before, jnp.exp(sums).astype(x.dtype))


def state_chunks(layers, width, heads, side, states, vocabulary, batch, length, chunk, kind=BF16):
    """Mamba 2 in linen: state space duality by chunks, a short convolution before it, a gated norm after it."""
    def make(arrays, change):
        from flax import linen as nn
        kinds, inner = {"dtype": computed(change, kind)}, heads * side

        class Mixer(nn.Module):
            @nn.compact
            def __call__(self, x):
                size, length = x.shape[:2]
                both = nn.Dense(2 * inner + 2 * states + heads, use_bias=False, name="in_proj", **kinds)(x)
                gate, mixed, step = jnp.split(both, [inner, 2 * inner + 2 * states], -1)
                mixed = nn.silu(nn.Conv(mixed.shape[-1], (4,), padding=((3, 0),), name="conv1d",
                                        feature_group_count=mixed.shape[-1], **kinds)(mixed))
                mixed, enter, leave = jnp.split(mixed.reshape(size, -1, chunk, mixed.shape[-1]),
                                                [inner, inner + states], -1)
                rate = -jnp.exp(self.param("A_log", nn.initializers.zeros, (heads,)).astype(F32))
                step = nn.softplus(step.astype(F32) + self.param("dt_bias", nn.initializers.zeros, (heads,)))
                step = step.reshape(size, -1, chunk, heads)
                mixed = mixed.reshape(size, -1, chunk, heads, side)
                made = dual_states(mixed * step[..., None].astype(mixed.dtype), rate * step, enter, leave)
                skip = self.param("D", nn.initializers.ones, (heads,)).astype(mixed.dtype)
                made = (made + skip[:, None] * mixed).reshape(size, length, inner)
                return nn.Dense(width, use_bias=False, name="out_proj", **kinds)(
                    nn.RMSNorm(**kinds)(made * nn.silu(gate)))

        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x):
                return x + Mixer(name="mixer")(nn.RMSNorm(**kinds)(x))

        class Mamba(nn.Module):
            @nn.compact
            def __call__(self, ids):
                embed = nn.Embed(vocabulary, width, name="embedding", **kinds)
                x = embed(ids)
                for i in range(layers):
                    x = (nn.remat(Layer) if change.rematerialize else Layer)(name=f"layers_{i}")(x)
                return embed.attend(nn.RMSNorm(**kinds)(x))

        model, ids = Mamba(), arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, chunk), jnp.int32))["params"]

        def loss_of(params, ids):
            return next_word_loss(model.apply({"params": params}, ids), ids)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(6e-4), ids)
    return make


# --- Muon ---

def turned_matrices(layers, width, heads, vocabulary, batch, length, kind=BF16):
    """A decoder in nnx whose matrices move by Muon: normed queries and keys, squared units, skips across its middle."""
    def make(arrays, change):
        import optax
        from flax import nnx
        kinds = {"dtype": computed(change, kind)}

        class Block(nnx.Module):
            def __init__(self, rngs):
                def linear(before, after):
                    return nnx.Linear(before, after, use_bias=False, rngs=rngs, **kinds)
                self.query, self.key, self.value, self.out = (linear(width, width) for _ in range(4))
                self.up, self.down = linear(width, 4 * width), linear(4 * width, width)
                self.share = nnx.Param(jnp.ones((2,)))

            def __call__(self, x, first):
                def normed(x):
                    return root_normed(x, 1)
                share = self.share[...].astype(x.dtype)
                x = share[0] * x + share[1] * first
                query, key, value = (one(normed(x)).reshape(*x.shape[:2], heads, -1)
                                     for one in (self.query, self.key, self.value))
                mixed = jax.nn.dot_product_attention(normed(query), normed(key), value, is_causal=True)
                x = x + self.out(mixed.reshape(x.shape))
                return x + self.down(jnp.square(nnx.relu(self.up(normed(x)))))

        class Decoder(nnx.Module):
            def __init__(self, rngs):
                self.embed = nnx.Embed(vocabulary, width, rngs=rngs, **kinds)
                self.blocks = nnx.List([Block(rngs) for _ in range(layers)])
                self.skips = nnx.Param(jnp.ones((layers // 2,)))
                self.head = nnx.Linear(width, vocabulary, use_bias=False, rngs=rngs, **kinds)

            def __call__(self, ids):
                call = nnx.remat(Block.__call__) if change.rematerialize else Block.__call__
                x = first = root_normed(self.embed(ids), 1)
                kept = []
                for i, block in enumerate(self.blocks):
                    if i >= (layers + 1) // 2:
                        x = x + self.skips[...][i - (layers + 1) // 2].astype(x.dtype) * kept.pop()
                    x = call(block, x, first)
                    if i < layers // 2:
                        kept.append(x)
                return 30 * jnp.tanh(self.head(root_normed(x, 1)).astype(F32) / 30)

        graph, shapes = nnx.split(nnx.eval_shape(lambda: Decoder(nnx.Rngs(0))))
        ids = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(params, ids):
            return next_word_loss(nnx.merge(graph, params)(ids), ids)
        optimizer = optax.contrib.muon(warmed_up(0.02), weight_decay=0.01, weight_decay_mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, ids)
    return make
