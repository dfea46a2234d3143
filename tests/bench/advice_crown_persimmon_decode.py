"""Persimmon (8B, Adept) answers: one decode step of a batched server, in plain JAX with dictionaries.

36 layers in a Python loop, a norm of each head of queries and keys, rotary places on half of each head, squared ReLU,
a vocabulary of 262144. Weights and the caches, a list of one (keys, values) pair a layer, are bfloat16; the next token
is drawn from the 50 best. What goes in is not donated.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times

LAYERS, WIDTH, HEADS, HIDDEN, VOCAB = 36, 4096, 64, 16384, 262144
HEAD = WIDTH // HEADS
ROTARY, THETA = HEAD // 2, 25000.0


def norm_shapes(width):
    return {"weight": (width,), "bias": (width,)}


def linear_shapes(inputs, outputs):
    return {"kernel": (inputs, outputs), "bias": (outputs,)}


def shapes():
    def layer():
        return {"input_layernorm": norm_shapes(WIDTH),
                "query_key_value": linear_shapes(WIDTH, 3 * WIDTH),
                "q_layernorm": norm_shapes(HEAD), "k_layernorm": norm_shapes(HEAD),
                "dense": linear_shapes(WIDTH, WIDTH),
                "post_attention_layernorm": norm_shapes(WIDTH),
                "dense_h_to_4h": linear_shapes(WIDTH, HIDDEN), "dense_4h_to_h": linear_shapes(HIDDEN, WIDTH)}
    return {"embed_tokens": (VOCAB, WIDTH), "layers": [layer() for _ in range(LAYERS)],
            "final_layernorm": norm_shapes(WIDTH), "lm_head": (WIDTH, VOCAB)}


def linear(p, x):
    return times(x, p["kernel"]) + p["bias"]


def layer_norm(p, x, eps=1e-5):
    y = x.astype(F32)
    mean = y.mean(-1, keepdims=True)
    y = (y - mean) * jax.lax.rsqrt(jnp.var(y, -1, keepdims=True) + eps)
    return (y * p["weight"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def angles(positions):
    """[rows] -> cosines and sines, [rows, 1, ROTARY]"""
    rates = 1.0 / THETA ** (jnp.arange(0, ROTARY, 2, dtype=F32) / ROTARY)
    turns = positions[:, None].astype(F32) * rates
    turns = jnp.concatenate([turns, turns], -1)[:, None]
    return jnp.cos(turns), jnp.sin(turns)


def rotate(x, cos, sin):
    """x: [rows, heads, head]; the first half of each head turns."""
    turned, passed = x[..., :ROTARY].astype(F32), x[..., ROTARY:]
    a, b = jnp.split(turned, 2, -1)
    turned = turned * cos + jnp.concatenate([-b, a], -1) * sin
    return jnp.concatenate([turned.astype(x.dtype), passed], -1)


def attention(p, x, cache, positions, cos, sin):
    rows = x.shape[0]
    # the fused projection has queries, keys and values of one head next to each other
    fused = linear(p["query_key_value"], x).reshape(rows, HEADS, 3, HEAD)
    q, k, v = fused[:, :, 0], fused[:, :, 1], fused[:, :, 2]
    q, k = layer_norm(p["q_layernorm"], q), layer_norm(p["k_layernorm"], k)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    keys, values = cache
    at = jnp.arange(rows), positions
    keys, values = keys.at[at].set(k), values.at[at].set(v)
    scores = jnp.einsum("bhd,bthd->bht", q, keys).astype(F32) * HEAD ** -0.5
    seen = jnp.arange(keys.shape[1])[None] <= positions[:, None]
    weights = jax.nn.softmax(jnp.where(seen[:, None], scores, -1e30), -1).astype(x.dtype)
    y = jnp.einsum("bht,bthd->bhd", weights, values).reshape(rows, WIDTH)
    return linear(p["dense"], y), (keys, values)


def mlp(p, x):
    return linear(p["dense_4h_to_h"], jnp.square(jax.nn.relu(linear(p["dense_h_to_4h"], x))))


def forward(params, tokens, caches, positions):
    x = looked_up(params["embed_tokens"], tokens, BF16)
    cos, sin = angles(positions)
    written = []
    for p, cache in zip(params["layers"], caches):
        y, cache = attention(p, layer_norm(p["input_layernorm"], x), cache, positions, cos, sin)
        x = x + y
        x = x + mlp(p, layer_norm(p["post_attention_layernorm"], x))
        written.append(cache)
    return times(layer_norm(params["final_layernorm"], x), params["lm_head"]).astype(F32), written


def drawn(key, logits, temperature, top_k):
    best, ids = jax.lax.top_k(logits / temperature, top_k)
    choice = jax.random.categorical(key, best)
    return jnp.take_along_axis(ids, choice[:, None], -1)[:, 0]


def server(batch, room, eos=71013, temperature=0.7, top_k=50):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, room // change.length_divisor
        params = quantized(change, abstract(shapes(), BF16))
        caches = [tuple(arrays.batch((rows, places, HEADS, HEAD), BF16) for _ in range(2)) for _ in range(LAYERS)]

        def decode_step(params, caches, tokens, positions, done, key):
            key, now = jax.random.split(key)
            logits, caches = forward(params, tokens, caches, positions)
            following = drawn(now, logits, temperature, top_k)
            following = jnp.where(done, eos, following).astype(tokens.dtype)
            return caches, following, jnp.where(done, positions, positions + 1), done | (following == eos), key
        return decode_step, (laid_out(arrays, params), caches, arrays.batch((rows,), jnp.int32),
                             arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.bool_),
                             raw_key(arrays)), (1, 2, 3, 4, 5)
    return make


FAMILY = {"crown_persimmon_decode": dict(
    make=server(batch=16, room=2048), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "halve_batch", "halve_sequence", "int8_weights",
              "shard_parameters", "shard_all"))}
