"""RWKV-6 (Finch, some 400M) reads text: decay that depends on the data, in chunks of 32 tokens.

equinox; layers are one stacked module that a scan runs over. Within chunks all pairs are computed at once, and the
states go from chunk to chunk by a second scan, both in float32; the rest is in bfloat16. Adam, weights in float32.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype, cross_entropy, maybe_checkpoint

STACKED = {"blocks": 0}


def uniform(key, *shape):
    bound = shape[-2] ** -0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


def layer_norm(x, scale, bias, eps=1e-5):
    x32 = x.astype(F32)
    mean = x32.mean(-1, keepdims=True)
    x32 = (x32 - mean) * jax.lax.rsqrt(jnp.var(x32, -1, keepdims=True) + eps)
    return (x32 * scale.astype(F32) + bias.astype(F32)).astype(x.dtype)


def shifted(x):
    return jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1] - x


def chunked_wkv(r, k, v, log_decay, bonus, chunk):
    batch, time, heads, head = r.shape

    def in_chunks(x):
        return x.reshape(batch, time // chunk, chunk, heads, head).transpose(1, 0, 3, 2, 4)
    r, k, v, log_decay = map(in_chunks, (r, k, v, log_decay))
    after = jnp.cumsum(log_decay, axis=-2)
    before, total = after - log_decay, after[..., -1:, :]
    middle = total / 2
    pairs = jnp.einsum("nbhtk,nbhsk->nbhts", r * jnp.exp(before - middle), k * jnp.exp(middle - after))
    pairs = jnp.where(jnp.tril(jnp.ones((chunk, chunk), bool), -1), pairs, 0.0)
    own = jnp.einsum("nbhtk,hk,nbhtk->nbht", r, bonus, k)
    inside = jnp.einsum("nbhts,nbhsv->nbhtv", pairs, v) + own[..., None] * v
    added = jnp.einsum("nbhtk,nbhtv->nbhkv", k * jnp.exp(total - after), v)

    def carry_on(state, given):
        decay, new = given
        return state * decay[..., None] + new, state
    _, states = jax.lax.scan(carry_on, jnp.zeros((batch, heads, head, head), F32), (jnp.exp(total[..., 0, :]), added))
    out = inside + jnp.einsum("nbhtk,nbhkv->nbhtv", r * jnp.exp(before), states)
    return out.transpose(1, 0, 3, 2, 4).reshape(batch, time, heads, head)


class TimeMix(eqx.Module):
    mix_first: jax.Array
    mix: jax.Array
    mix_down: jax.Array
    mix_up: jax.Array
    projections: dict
    decay: dict
    bonus: jax.Array
    norm: dict
    heads: int = eqx.field(static=True)
    chunk: int = eqx.field(static=True)

    def __init__(self, width, heads, chunk, rank, decay_rank, key):
        keys = jax.random.split(key, 9)
        self.heads, self.chunk = heads, chunk
        self.mix_first, self.mix = jnp.full((width,), 0.5), jnp.full((5, width), 0.5)
        self.mix_down, self.mix_up = uniform(keys[0], width, 5 * rank), uniform(keys[1], 5, rank, width)
        self.projections = {name: uniform(k, width, width) for name, k in zip("rkvgo", keys[2:7])}
        self.decay = {"base": jnp.linspace(-6.0, -1.0, width), "down": uniform(keys[7], width, decay_rank),
                      "up": uniform(keys[8], decay_rank, width)}
        self.bonus = jnp.zeros((heads, width // heads))
        self.norm = {"scale": jnp.ones((heads, width // heads)), "bias": jnp.zeros((heads, width // heads))}

    def __call__(self, x):
        batch, time, width = x.shape
        change = shifted(x)
        low = jnp.tanh((x + change * self.mix_first) @ self.mix_down).reshape(batch, time, 5, -1)
        moves = jnp.einsum("btir,ird->ibtd", low, self.mix_up) + self.mix[:, None, None]
        xw, xk, xv, xr, xg = x + change * moves

        def by_head(y):
            return y.reshape(batch, time, self.heads, -1).astype(F32)
        p, d = self.projections, self.decay
        r, k, v = by_head(xr @ p["r"]), by_head(xk @ p["k"]), by_head(xv @ p["v"])
        rate = d["base"].astype(F32) + (jnp.tanh(xw @ d["down"]) @ d["up"]).astype(F32)
        log_decay = by_head(jnp.maximum(-jnp.exp(rate), -4.0))
        y = chunked_wkv(r, k, v, log_decay, self.bonus.astype(F32), self.chunk)
        y = layer_norm(y, self.norm["scale"], self.norm["bias"], 64e-5).reshape(x.shape).astype(x.dtype)
        return (y * jax.nn.silu(xg @ p["g"])) @ p["o"]


class ChannelMix(eqx.Module):
    mix: jax.Array
    key: jax.Array
    receptance: jax.Array
    value: jax.Array

    def __init__(self, width, hidden, key):
        first, second, third = jax.random.split(key, 3)
        self.mix, self.key = jnp.full((2, width), 0.5), uniform(first, width, hidden)
        self.receptance, self.value = uniform(second, width, width), uniform(third, hidden, width)

    def __call__(self, x):
        change = shifted(x)
        k = jnp.square(jax.nn.relu((x + change * self.mix[0]) @ self.key))
        return jax.nn.sigmoid((x + change * self.mix[1]) @ self.receptance) * (k @ self.value)


class Block(eqx.Module):
    norms: jax.Array
    time_mix: TimeMix
    channel_mix: ChannelMix

    def __init__(self, width, heads, hidden, chunk, key):
        first, second = jax.random.split(key)
        self.norms = jnp.stack([jnp.ones(width), jnp.zeros(width)] * 2)
        self.time_mix = TimeMix(width, heads, chunk, 32, 64, first)
        self.channel_mix = ChannelMix(width, hidden, second)

    def __call__(self, x):
        x = x + self.time_mix(layer_norm(x, self.norms[0], self.norms[1]))
        return x + self.channel_mix(layer_norm(x, self.norms[2], self.norms[3]))


class RWKV(eqx.Module):
    embedding: jax.Array
    norms: jax.Array
    blocks: Block
    head: jax.Array

    def __init__(self, layers, width, heads, hidden, vocab, chunk, key):
        first, second, third = jax.random.split(key, 3)
        self.embedding, self.head = uniform(first, vocab, width), uniform(third, width, vocab)
        self.norms = jnp.stack([jnp.ones(width), jnp.zeros(width)] * 2)
        self.blocks = eqx.filter_vmap(lambda k: Block(width, heads, hidden, chunk, k))(
            jax.random.split(second, layers))

    def __call__(self, tokens, change):
        x = layer_norm(self.embedding[tokens], self.norms[0], self.norms[1])
        block = maybe_checkpoint(change, lambda block, x: block(x))
        x, _ = jax.lax.scan(lambda x, one: (block(one, x), None), x, self.blocks)
        return layer_norm(x, self.norms[2], self.norms[3]) @ self.head


def rwkv(layers, width, heads, hidden, vocab, chunk, batch, length, kind=BF16):
    def make(arrays, change):
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        model = cast(eqx.filter_eval_shape(RWKV, layers, width, heads, hidden, vocab, chunk, jax.random.key(0)),
                     change.stored)
        optimizer = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adamw(optax.cosine_decay_schedule(6e-4, 100_000, 0.1), b1=0.9, b2=0.99, eps=1e-18,
                        weight_decay=0.001, mask=lambda m: jax.tree.map(lambda p: p.ndim > 2, m)))
        opt_state = jax.eval_shape(optimizer.init, model)

        def loss_fn(model, _, tokens, labels):
            logits = jax.tree.map(lambda w: w.astype(now), model)(tokens, change).astype(F32)
            loss = cross_entropy(logits, labels)
            return loss + 1e-4 * jnp.square(logits.max(-1)).mean(), loss

        def train_step(model, opt_state, tokens, labels):
            _, losses, grads = summed_slopes(loss_fn, change.parts)(model, None, tokens, labels)
            model, opt_state = updated(optimizer, grads, opt_state, model)
            return model, opt_state, losses.mean()
        return train_step, (laid_out(arrays, model, STACKED), laid_out(arrays, opt_state, STACKED),
                            arrays.batch((rows, time), jnp.int32), arrays.batch((rows, time), jnp.int32)), (0, 1)
    return make


FAMILY = {"league_rwkv": dict(
    make=rwkv(layers=24, width=1024, heads=16, hidden=3584, vocab=65536, chunk=32, batch=8, length=2048),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
