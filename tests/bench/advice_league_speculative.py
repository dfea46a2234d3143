"""Speculative decoding, the target's step: a Mistral 7B checks four drafted tokens of each request at once.

Weights and caches in bfloat16. One cache of all layers is carried through a scan over layers and written at each
request's own place; the drafts are accepted by rejection sampling against the draft model's probabilities, and a
token more is sampled from what is left. The cache and its lengths are donated.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times

STACKED = {"layers": 0}


def shapes_of(layers, width, heads, kv_heads, head, hidden, vocab):
    return {
        "embed": (vocab, width),
        "layers": {
            "input_norm": (layers, width), "post_norm": (layers, width),
            "q": (layers, width, heads * head), "k": (layers, width, kv_heads * head),
            "v": (layers, width, kv_heads * head), "o": (layers, heads * head, width),
            "gate": (layers, width, hidden), "up": (layers, width, hidden), "down": (layers, hidden, width),
        },
        "norm": (width,),
        "lm_head": (width, vocab),
    }


def rms_norm(x, scale, eps=1e-5):
    x32 = x.astype(F32)
    x32 = x32 * jax.lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + eps)
    return x32.astype(x.dtype) * scale.astype(x.dtype)


def rotary(x, positions, theta=1_000_000.0):
    """[batch, drafts, heads, head] at positions [batch, drafts]."""
    half = x.shape[-1] // 2
    angles = positions[..., None, None] * theta ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    a, b = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def layer_step(p, index, x, cache, positions, kv_heads, head):
    batch, seen, width = x.shape
    with jax.named_scope("attention"):
        y = rms_norm(x, p["input_norm"])
        q = rotary(times(y, p["q"]).reshape(batch, seen, -1, head), positions)
        k = rotary(times(y, p["k"]).reshape(batch, seen, kv_heads, head), positions)
        v = times(y, p["v"]).reshape(batch, seen, kv_heads, head)
        rows = jnp.arange(batch)[:, None]
        cache = {"k": cache["k"].at[index, rows, positions].set(k, mode="drop"),
                 "v": cache["v"].at[index, rows, positions].set(v, mode="drop")}
        keys = jax.lax.dynamic_index_in_dim(cache["k"], index, keepdims=False)
        values = jax.lax.dynamic_index_in_dim(cache["v"], index, keepdims=False)
        q = q.reshape(batch, seen, kv_heads, -1, head) * head ** -0.5
        scores = jnp.einsum("btkgd,bskd->bkgts", q, keys, preferred_element_type=F32)
        mask = jnp.arange(keys.shape[1]) <= positions[..., None]
        scores = jnp.where(mask[:, None, None], scores, -1e30)
        probs = jax.nn.softmax(scores, -1).astype(x.dtype)
        mixed = jnp.einsum("bkgts,bskd->btkgd", probs, values).reshape(batch, seen, -1)
        x = x + times(mixed, p["o"])
    with jax.named_scope("mlp"):
        y = rms_norm(x, p["post_norm"])
        return x + times(jax.nn.silu(times(y, p["gate"])) * times(y, p["up"]), p["down"]), cache


def target_logits(params, cache, tokens, lengths, kv_heads, head):
    positions = lengths[:, None] + jnp.arange(tokens.shape[1])
    x = looked_up(params["embed"], tokens, BF16)

    def body(carry, given):
        index, layer = given
        return layer_step(layer, index, *carry, positions, kv_heads, head), None
    layers = cache["k"].shape[0]
    (x, cache), _ = jax.lax.scan(body, (x, cache), (jnp.arange(layers), params["layers"]))
    return times(rms_norm(x, params["norm"]), params["lm_head"]).astype(F32), cache


def accepted(key, logits, drafts, draft_probs, temperature):
    """Rejection sampling: how many drafts are kept, and the token that follows them."""
    count = drafts.shape[1]
    accept_key, sample_key = jax.random.split(key)
    target = jax.nn.softmax(logits / temperature, -1)
    p = jnp.take_along_axis(target[:, :count], drafts[..., None], -1)[..., 0]
    q = jnp.take_along_axis(draft_probs, drafts[..., None], -1)[..., 0]
    is_kept = jax.random.uniform(accept_key, p.shape) * q < p
    kept = jnp.cumprod(is_kept.astype(jnp.int32), -1).sum(-1)
    proposed = jnp.pad(draft_probs, ((0, 0), (0, 1), (0, 0)))
    left = jnp.maximum(target - proposed, 0)
    left = jnp.take_along_axis(left, kept[:, None, None], 1)[:, 0]
    following = jax.random.categorical(sample_key, jnp.log(left + 1e-20))
    return kept, following


def verify(layers, width, heads, kv_heads, hidden, vocab, drafts, batch, room, temperature=0.7):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, room // change.length_divisor
        head = width // heads
        params = abstract(shapes_of(layers, width, heads, kv_heads, head, hidden, vocab), BF16)
        params = quantized(change, params, ("layers",))
        split = 1 if change.shard == "all" else None
        cache = {name: arrays.array((layers, rows, places, kv_heads, head), BF16, split) for name in ("k", "v")}

        def verify_step(params, cache, lengths, key, last, drafted, draft_probs):
            key, sample_key = jax.random.split(key)
            tokens = jnp.concatenate([last[:, None], drafted], 1)
            logits, cache = target_logits(params, cache, tokens, lengths, kv_heads, head)
            kept, following = accepted(sample_key, logits, drafted, draft_probs.astype(F32), temperature)
            place = jnp.arange(drafts + 1)
            padded = jnp.pad(drafted, ((0, 0), (0, 1)))
            out = jnp.where(place < kept[:, None], padded, jnp.where(place == kept[:, None], following[:, None], -1))
            return cache, lengths + kept + 1, key, out, following, kept
        return verify_step, (laid_out(arrays, params, STACKED), cache, arrays.batch((rows,), jnp.int32),
                             raw_key(arrays), arrays.batch((rows,), jnp.int32),
                             arrays.batch((rows, drafts), jnp.int32),
                             arrays.batch((rows, drafts, vocab), BF16)), (1, 2)
    return make


FAMILY = {"league_speculative": dict(
    make=verify(layers=32, width=4096, heads=32, kv_heads=8, hidden=14336, vocab=32000, drafts=4, batch=32, room=4096),
    is_donated=True,
    variants=("halve_batch", "halve_sequence", "int8_weights", "shard_parameters", "shard_all"))}
