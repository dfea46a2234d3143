"""CodeGen (2B, mono) completes code: one decode step of a batched server, in plain jax.

GPT-J's parallel blocks (attention and MLP read one norm), rotary places on the first 64 of 80 numbers of each head,
twenty layers in a Python loop, a list of caches [rows, heads, room, head]. Weights and caches are bfloat16; the next
token is drawn from the nucleus. What goes in is not donated.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times

N_LAYER, N_EMBD, N_HEAD, ROTARY_DIM, VOCAB = 20, 2560, 32, 64, 51200
HEAD_DIM = N_EMBD // N_HEAD


def shapes():
    block = {
        "ln_1": {"scale": (N_EMBD,), "bias": (N_EMBD,)},
        "attn": {"qkv_proj": (N_EMBD, 3 * N_EMBD), "out_proj": (N_EMBD, N_EMBD)},
        "mlp": {"fc_in": (N_EMBD, 4 * N_EMBD), "b_in": (4 * N_EMBD,), "fc_out": (4 * N_EMBD, N_EMBD),
                "b_out": (N_EMBD,)},
    }
    return {"wte": (VOCAB, N_EMBD), "h": [block for _ in range(N_LAYER)],
            "ln_f": {"scale": (N_EMBD,), "bias": (N_EMBD,)}, "lm_head": (N_EMBD, VOCAB), "lm_bias": (VOCAB,)}


def layer_norm(p, x, eps=1e-5):
    x32 = x.astype(F32)
    x32 = x32 - x32.mean(-1, keepdims=True)
    x32 = x32 * jax.lax.rsqrt(jnp.square(x32).mean(-1, keepdims=True) + eps)
    return (x32 * p["scale"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def sincos(pos):
    inv_freq = 10000.0 ** (-jnp.arange(0, ROTARY_DIM, 2) / ROTARY_DIM)
    angle = pos[:, None] * inv_freq
    return jnp.repeat(jnp.sin(angle), 2, -1)[:, None], jnp.repeat(jnp.cos(angle), 2, -1)[:, None]


def rotate_every_two(x):
    return jnp.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


def apply_rotary(x, sin, cos):
    """x: [rows, heads, head]"""
    turned, passed = x[..., :ROTARY_DIM].astype(F32), x[..., ROTARY_DIM:]
    turned = turned * cos + rotate_every_two(turned) * sin
    return jnp.concatenate([turned.astype(x.dtype), passed], -1)


def attend(p, x, cache, pos, sin, cos):
    rows = x.shape[0]
    q, k, v = (t.reshape(rows, N_HEAD, HEAD_DIM) for t in jnp.split(times(x, p["qkv_proj"]), 3, -1))
    q, k = apply_rotary(q, sin, cos), apply_rotary(k, sin, cos)
    row = jnp.arange(rows)
    keys = cache["k"].at[row, :, pos].set(k)
    values = cache["v"].at[row, :, pos].set(v)
    att = jnp.einsum("bhd,bhtd->bht", q, keys, preferred_element_type=F32) / HEAD_DIM ** 0.5
    visible = jnp.arange(keys.shape[2]) <= pos[:, None]
    att = jax.nn.softmax(jnp.where(visible[:, None], att, jnp.finfo(F32).min), -1).astype(x.dtype)
    y = jnp.einsum("bht,bhtd->bhd", att, values).reshape(rows, N_EMBD)
    return times(y, p["out_proj"]), {"k": keys, "v": values}


def mlp(p, x):
    return times(jax.nn.gelu(times(x, p["fc_in"]) + p["b_in"]), p["fc_out"]) + p["b_out"]


def forward(params, tokens, caches, pos):
    x = looked_up(params["wte"], tokens, BF16)
    sin, cos = sincos(pos)
    new = []
    for p, cache in zip(params["h"], caches):
        y = layer_norm(p["ln_1"], x)
        a, cache = attend(p["attn"], y, cache, pos, sin, cos)
        x = x + a + mlp(p["mlp"], y)
        new.append(cache)
    x = layer_norm(params["ln_f"], x)
    return times(x, params["lm_head"]).astype(F32) + params["lm_bias"].astype(F32), new


def nucleus(key, logits, top_p, temperature):
    logits = logits / temperature
    best = jnp.sort(logits, -1)[:, ::-1]
    total = jnp.cumsum(jax.nn.softmax(best, -1), -1)
    last = jnp.minimum((total < top_p).sum(-1, keepdims=True), logits.shape[-1] - 1)
    cutoff = jnp.take_along_axis(best, last, -1)
    return jax.random.categorical(key, jnp.where(logits < cutoff, -jnp.inf, logits))


def server(batch, room, eos=50256, top_p=0.95, temperature=0.2):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, room // change.length_divisor
        params = quantized(change, abstract(shapes(), BF16))
        split = 0 if change.shard == "all" else None
        caches = [{name: arrays.array((rows, N_HEAD, places, HEAD_DIM), BF16, split) for name in "kv"}
                  for _ in range(N_LAYER)]

        def decode_step(params, caches, tokens, pos, done, key):
            key, sample_key = jax.random.split(key)
            logits, caches = forward(params, tokens, caches, pos)
            following = nucleus(sample_key, logits, top_p, temperature)
            following = jnp.where(done, eos, following).astype(tokens.dtype)
            return caches, following, pos + 1, done | (following == eos), key

        return decode_step, (laid_out(arrays, params), caches, arrays.batch((rows,), jnp.int32),
                             arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.bool_),
                             raw_key(arrays)), (1, 2, 3, 4, 5)
    return make


FAMILY = {"medal_codegen_decode": dict(
    make=server(batch=32, room=2048), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "halve_batch", "halve_sequence", "int8_weights",
              "shard_parameters", "shard_all"))}
