"""Served, a token a step: SmolLM3-3B with a list of caches, StableLM 2 1.6B with its layers and caches in a scan.

Each maker has its sizes as arguments and gives make(arrays, change), which gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_board_blocks import BF16, F32, cast, compute_type, for_rows, layer_norm, rms_norm, rotate


def new_key(arrays):
    return arrays.array((2,), jnp.uint32)


# --- SmolLM3: a dictionary of caches for each layer, each fourth layer without positions ---

def smollm3_weights(arrays, layers, width, heads, kv_heads, side, hidden, vocab):
    """bfloat16, or int8 with scales for all but the table, which is the last matrix too."""
    def matrix(rows, columns):
        if arrays.change.quantized:
            return arrays.parameter((rows, columns), 0)
        return arrays.array((rows, columns), BF16, 0)

    def layer():
        return {"input_norm": arrays.array((width,), BF16), "post_norm": arrays.array((width,), BF16),
                "qkv_proj": matrix(width, (heads + 2 * kv_heads) * side), "o_proj": matrix(heads * side, width),
                "gate_up_proj": matrix(width, 2 * hidden), "down_proj": matrix(hidden, width)}
    return {"embed": arrays.array((vocab, width), BF16, 0), "norm": arrays.array((width,), BF16),
            "layers": [layer() for _ in range(layers)]}


def sample_top_p(key, logits, temperature, top_p):
    """Of the likeliest tokens that together have the chance top_p."""
    logits = logits / temperature
    ordered = jnp.sort(logits, axis=-1, descending=True)
    chances = jax.nn.softmax(ordered, axis=-1)
    kept = jnp.cumsum(chances, axis=-1) - chances < top_p
    least = jnp.min(jnp.where(kept, ordered, jnp.inf), axis=-1, keepdims=True)
    return jax.random.categorical(key, jnp.where(logits < least, -jnp.inf, logits)).astype(jnp.int32)


def smollm3_decode(layers, width, heads, kv_heads, side, hidden, vocab, batch, room):
    """Prompts were padded on the left, so all rows write one slot; sampled with top-p."""
    groups = heads // kv_heads

    def make(arrays, change):
        rows, slots = batch // change.batch_divisor, room // change.length_divisor
        params = smollm3_weights(arrays, layers, width, heads, kv_heads, side, hidden, vocab)
        line = for_rows(arrays, (rows, kv_heads, slots, side), BF16)
        caches = [{"k": line, "v": line} for _ in range(layers)]

        def attention(p, x, cache, slot, ages, mask, has_positions):
            qkv = (x @ p["qkv_proj"]).reshape(rows, heads + 2 * kv_heads, side)
            q, k, v = jnp.split(qkv, (heads, heads + kv_heads), axis=1)
            if has_positions:
                q, k = rotate(q, ages, 5e6), rotate(k, ages, 5e6)
            cache = {"k": jax.lax.dynamic_update_slice(cache["k"], k[:, :, None], (0, 0, slot, 0)),
                     "v": jax.lax.dynamic_update_slice(cache["v"], v[:, :, None], (0, 0, slot, 0))}
            q = q.reshape(rows, kv_heads, groups, side)
            scores = jnp.einsum("bkgh,bksh->bkgs", q, cache["k"]).astype(F32) * side ** -0.5
            scores = jnp.where(mask[:, None, None, :], scores, jnp.finfo(F32).min)
            probs = jax.nn.softmax(scores, axis=-1).astype(BF16)
            out = jnp.einsum("bkgs,bksh->bkgh", probs, cache["v"])
            return out.reshape(rows, heads * side) @ p["o_proj"], cache

        def mlp(p, x):
            gate, up = jnp.split(x @ p["gate_up_proj"], 2, axis=-1)
            return (jax.nn.silu(gate) * up) @ p["down_proj"]

        def decode_step(params, caches, tokens, first, slot, key_data):
            params = cast(params, BF16)
            key, now_key = jax.random.split(jax.random.wrap_key_data(key_data))
            places = jnp.arange(slots)
            mask = (places[None] <= slot) & (places[None] >= first[:, None])
            x, filled = params["embed"][tokens], []
            for i, (p, cache) in enumerate(zip(params["layers"], caches)):
                h = rms_norm(x, p["input_norm"])
                out, cache = attention(p, h, cache, slot, slot - first, mask, (i + 1) % 4 != 0)
                x = x + out
                x = x + mlp(p, rms_norm(x, p["post_norm"]))
                filled.append(cache)
            logits = jnp.einsum("bd,vd->bv", rms_norm(x, params["norm"]), params["embed"])
            tokens = sample_top_p(now_key, logits.astype(F32), 0.6, 0.95)
            return tokens, filled, slot + 1, jax.random.key_data(key)
        ids = arrays.batch((rows,), jnp.int32)
        return decode_step, (params, caches, ids, ids, arrays.array((), jnp.int32), new_key(arrays)), (1,)
    return make


# --- StableLM 2: stacked layers, float32 weights ---

def stablelm_weights(arrays, layers, width, hidden, vocab):
    def kernels(rows, columns):
        return arrays.parameter((layers, rows, columns), 1)

    def vectors(size):
        return arrays.parameter((layers, size), None)

    def norm(vector, size):
        return {"weight": vector(size), "bias": vector(size)}
    blocks = {"attn_norm": norm(vectors, width), "mlp_norm": norm(vectors, width),
              "wq": kernels(width, width), "wk": kernels(width, width), "wv": kernels(width, width),
              "bq": vectors(width), "bk": vectors(width), "bv": vectors(width), "wo": kernels(width, width),
              "w_gate": kernels(width, hidden), "w_up": kernels(width, hidden), "w_down": kernels(hidden, width)}
    return {"wte": arrays.parameter((vocab, width)), "lm_head": arrays.parameter((width, vocab)),
            "ln_f": norm(lambda size: arrays.parameter((size,), None), width), "blocks": blocks}


def stablelm_decode(layers, width, heads, hidden, vocab, batch, room, end=100257, usual=BF16):
    """Each row is at its own length; what is done goes on with the end's token; the state is one dictionary."""
    side = width // heads

    def make(arrays, change):
        rows, slots = batch // change.batch_divisor, room // change.length_divisor
        now = compute_type(change, usual)
        store = for_rows(arrays, (layers, rows, slots, heads, side), BF16, 1)
        ids = arrays.batch((rows,), jnp.int32)
        state = {"k": store, "v": store, "tokens": ids, "lengths": ids, "done": arrays.batch((rows,), jnp.bool_)}

        def write(cache, new, lengths):
            def one(line, value, at):
                return jax.lax.dynamic_update_slice(line, value[None].astype(line.dtype), (at, 0, 0))
            return jax.vmap(one)(cache, new, lengths)

        def block(x, p, keys, values, lengths):
            p = cast(p, now)
            h = layer_norm(x, **p["attn_norm"])
            q, k, v = ((h @ p[f"w{name}"] + p[f"b{name}"]).reshape(rows, heads, side) for name in "qkv")
            q, k = rotate(q, lengths, 1e4, side // 4), rotate(k, lengths, 1e4, side // 4)
            keys, values = write(keys, k, lengths), write(values, v, lengths)
            scores = jnp.einsum("bnh,bsnh->bns", q, keys.astype(now), preferred_element_type=F32) / side ** 0.5
            seen = jnp.arange(slots)[None] <= lengths[:, None]
            probs = jax.nn.softmax(scores, axis=-1, where=seen[:, None]).astype(now)
            x = x + jnp.einsum("bns,bsnh->bnh", probs, values.astype(now)).reshape(rows, width) @ p["wo"]
            h = layer_norm(x, **p["mlp_norm"])
            return x + (jax.nn.silu(h @ p["w_gate"]) * (h @ p["w_up"])) @ p["w_down"], (keys, values)

        def decode_step(params, state):
            lengths = state["lengths"]
            x = params["wte"][state["tokens"]].astype(now)
            x, (keys, values) = jax.lax.scan(lambda x, layer: block(x, *layer, lengths), x,
                                             (params["blocks"], state["k"], state["v"]))
            logits = layer_norm(x, **params["ln_f"]) @ params["lm_head"].astype(now)
            tokens = jnp.where(state["done"], end, jnp.argmax(logits, axis=-1).astype(jnp.int32))
            done = state["done"] | (tokens == end)
            lengths = jnp.where(done, lengths, lengths + 1)
            return {"k": keys, "v": values, "tokens": tokens, "lengths": lengths, "done": done}
        return decode_step, (stablelm_weights(arrays, layers, width, hidden, vocab), state), (1,)
    return make
