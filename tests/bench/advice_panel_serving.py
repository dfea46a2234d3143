"""What is served: decode steps with caches in a list and in a scan, a prefill of long prompts, a check of drafts.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_panel_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, random_key
from advice_fresh import root_normed
from advice_structures import BF16, F32


# --- What they share ---

def apply_rope(x, positions, theta):
    """Of [batch, time, heads, side], at positions [batch, time]; halves are rotated."""
    half = x.shape[-1] // 2
    freqs = theta ** (-jnp.arange(half, dtype=F32) / half)
    angles = positions[..., None, None].astype(F32) * freqs
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    a, b = x[..., :half].astype(F32), x[..., half:].astype(F32)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def half_weight(arrays, shape, split):
    """A matrix of a checkpoint in bfloat16, or of one that was quantized."""
    return arrays.parameter(shape, split) if arrays.change.quantized else arrays.array(shape, BF16, split)


def split_of_caches(change):
    return change.shard == "all"


# --- Qwen2.5: a list of caches, layers unrolled ---

def qwen2_params(arrays, layers, width, heads, kv_heads, hidden, vocab):
    side = width // heads

    def dense(rows, columns, has_bias=False):
        bias = {"bias": arrays.array((columns,), BF16)} if has_bias else {}
        return {"kernel": half_weight(arrays, (rows, columns), 0)} | bias

    def scale():
        return arrays.array((width,), BF16)

    def layer():
        return {"input_layernorm": scale(), "post_attention_layernorm": scale(),
                "self_attn": {"q_proj": dense(width, width, True), "k_proj": dense(width, kv_heads * side, True),
                              "v_proj": dense(width, kv_heads * side, True), "o_proj": dense(width, width)},
                "mlp": {"gate_proj": dense(width, hidden), "up_proj": dense(width, hidden),
                        "down_proj": dense(hidden, width)}}
    return {"embed_tokens": arrays.array((vocab, width), BF16, 0), "norm": scale(),
            "layers": [layer() for _ in range(layers)]}


def qwen2_decode(layers, width, heads, kv_heads, hidden, vocab, batch, room, top_k=50, kind=BF16):
    """One word more for each row, at its own place; a (k, v) pair a layer, and the word is sampled of the best."""
    side = width // heads

    def make(arrays, change):
        b, slots, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        params = qwen2_params(arrays, layers, width, heads, kv_heads, hidden, vocab)
        line = arrays.array((b, slots, kv_heads, side), BF16, 0 if split_of_caches(change) else None)
        caches = [(line, line) for _ in range(layers)]
        rows = jnp.arange(b)

        def dense(p, x):
            return x @ p["kernel"] + p["bias"] if "bias" in p else x @ p["kernel"]

        def attend(p, x, cache, lengths):
            q = dense(p["q_proj"], x).reshape(b, 1, heads, side)
            k = dense(p["k_proj"], x).reshape(b, 1, kv_heads, side)
            v = dense(p["v_proj"], x).reshape(b, kv_heads, side)
            q = apply_rope(q, lengths[:, None], 1e6)[:, 0].reshape(b, kv_heads, -1, side)
            k = apply_rope(k, lengths[:, None], 1e6)[:, 0]
            k_cache = cache[0].at[rows, lengths].set(k.astype(BF16))
            v_cache = cache[1].at[rows, lengths].set(v.astype(BF16))
            scores = jnp.einsum("bngd,btnd->bngt", q, k_cache, preferred_element_type=F32) * side ** -0.5
            mask = jnp.arange(slots)[None] <= lengths[:, None]
            probs = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e30)).astype(q.dtype)
            out = jnp.einsum("bngt,btnd->bngd", probs, v_cache).reshape(b, width)
            return dense(p["o_proj"], out), (k_cache, v_cache)

        def decode_step(params, caches, tokens, lengths, key):
            params = as_kind(params, now)
            x, new_caches = params["embed_tokens"][tokens], []
            for p, cache in zip(params["layers"], caches):
                out, cache = attend(p["self_attn"], root_normed(x, p["input_layernorm"]), cache, lengths)
                x, mlp = x + out, p["mlp"]
                h = root_normed(x, p["post_attention_layernorm"])
                x = x + dense(mlp["down_proj"], jax.nn.silu(dense(mlp["gate_proj"], h)) * dense(mlp["up_proj"], h))
                new_caches.append(cache)
            logits = (root_normed(x, params["norm"]) @ params["embed_tokens"].T).astype(F32) / 0.7
            best, ids = jax.lax.top_k(logits, top_k)
            picked = jax.random.categorical(jax.random.wrap_key_data(key), best)
            tokens = jnp.take_along_axis(ids, picked[:, None], 1)[:, 0]
            return tokens, new_caches, lengths + 1
        ids = arrays.batch((b,), jnp.int32)
        return decode_step, (params, caches, ids, ids, random_key(arrays)), (1,)
    return make


# --- OLMo 2: stacked caches through a scan ---

def olmo2_decode(layers, width, heads, hidden, vocab, batch, room, kind=BF16):
    """One word more, all rows at one place; weights of float32 are cast where they are used, norms come after."""
    side = width // heads

    def make(arrays, change):
        b, slots, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)

        def stack(rows, columns):
            return arrays.parameter((layers, rows, columns), 1)

        def scale():
            return arrays.parameter((layers, width), None)
        params = {"wte": arrays.parameter((vocab, width)), "ln_f": arrays.parameter((width,), None),
                  "ff_out": arrays.parameter((width, vocab)),
                  "blocks": {"wq": stack(width, width), "wk": stack(width, width), "wv": stack(width, width),
                             "wo": stack(width, width), "w1": stack(width, hidden), "w3": stack(width, hidden),
                             "w2": stack(hidden, width), "q_norm": scale(), "k_norm": scale(), "attn_norm": scale(),
                             "ff_norm": scale()}}
        store = arrays.array((layers, b, slots, heads, side), BF16, 1 if split_of_caches(change) else None)

        def decode_step(params, cache, tokens, position):
            at = jnp.full((b, 1), position)
            mask = jnp.arange(slots) <= position

            def block(x, layer):
                p, k_cache, v_cache = as_kind(layer[0], now), *layer[1:]
                q = root_normed(x @ p["wq"], p["q_norm"]).reshape(b, 1, heads, side)
                k = root_normed(x @ p["wk"], p["k_norm"]).reshape(b, 1, heads, side)
                v = (x @ p["wv"]).reshape(b, 1, heads, side)
                q, k = apply_rope(q, at, 5e5), apply_rope(k, at, 5e5)
                k_cache = jax.lax.dynamic_update_slice_in_dim(k_cache, k.astype(BF16), position, 1)
                v_cache = jax.lax.dynamic_update_slice_in_dim(v_cache, v.astype(BF16), position, 1)
                scores = jnp.einsum("bqhd,bkhd->bhqk", q, k_cache.astype(now)).astype(F32) * side ** -0.5
                probs = jax.nn.softmax(jnp.where(mask, scores, -1e30)).astype(now)
                out = jnp.einsum("bhqk,bkhd->bqhd", probs, v_cache.astype(now)).reshape(b, width)
                x = x + root_normed(out @ p["wo"], p["attn_norm"])
                h = (jax.nn.silu(x @ p["w1"]) * (x @ p["w3"])) @ p["w2"]
                return x + root_normed(h, p["ff_norm"]), (k_cache, v_cache)
            x = params["wte"][tokens].astype(now)
            x, (keys, values) = jax.lax.scan(block, x, (params["blocks"], cache["k"], cache["v"]))
            logits = root_normed(x, params["ln_f"].astype(now)) @ params["ff_out"].astype(now)
            tokens = jnp.argmax(logits, -1).astype(jnp.int32)
            return tokens, {"k": keys, "v": values}, position + 1
        arguments = params, {"k": store, "v": store}, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)
        return decode_step, arguments, (1,)
    return make


# --- Llama 3.2 in flax: long prompts are read into caches ---

def llama_module(layers, width, heads, kv_heads, hidden, vocab, room, chunk, now):
    import flax.linen as nn
    side = width // heads

    class Attention(nn.Module):
        @nn.compact
        def __call__(self, x, positions):
            batch, length = x.shape[:2]

            def project(count, name):
                made = nn.Dense(count * side, use_bias=False, dtype=now, name=name)(x)
                return made.reshape(batch, length, count, side)
            q = apply_rope(project(heads, "q_proj"), positions, 5e5) * side ** -0.5
            k = apply_rope(project(kv_heads, "k_proj"), positions, 5e5)
            v = project(kv_heads, "v_proj")
            for name, lines in (("cached_key", k), ("cached_value", v)):
                cached = self.variable("cache", name, jnp.zeros, (batch, room, kv_heads, side), BF16)
                cached.value = jax.lax.dynamic_update_slice(cached.value, lines.astype(BF16), (0, 0, 0, 0))
            chunks = q.reshape(batch, length // chunk, chunk, kv_heads, heads // kv_heads, side).swapaxes(0, 1)

            def of_chunk(given):
                query, start = given
                scores = jnp.einsum("bqngd,bknd->bngqk", query, k, preferred_element_type=F32)
                seen = jnp.arange(length)[None] <= start + jnp.arange(chunk)[:, None]
                probs = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(now)
                return jnp.einsum("bngqk,bknd->bqngd", probs, v)
            out = jax.lax.map(of_chunk, (chunks, jnp.arange(0, length, chunk)))
            out = out.swapaxes(0, 1).reshape(batch, length, width)
            return nn.Dense(width, use_bias=False, dtype=now, name="o_proj")(out)

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x, positions):
            x = x + Attention(name="attn")(nn.RMSNorm(dtype=now, name="attn_norm")(x), positions)
            h = nn.RMSNorm(dtype=now, name="mlp_norm")(x)
            gate = nn.Dense(hidden, use_bias=False, dtype=now, name="gate_proj")(h)
            up = nn.Dense(hidden, use_bias=False, dtype=now, name="up_proj")(h)
            return x + nn.Dense(width, use_bias=False, dtype=now, name="down_proj")(nn.silu(gate) * up)

    class Llama(nn.Module):
        @nn.compact
        def __call__(self, tokens, lengths):
            table = self.param("embed_tokens", nn.initializers.normal(0.02), (vocab, width))
            positions = jnp.broadcast_to(jnp.arange(tokens.shape[1]), tokens.shape)
            x = table[tokens].astype(now)
            for i in range(layers):
                x = Block(name=f"layers_{i}")(x, positions)
            last = jnp.take_along_axis(x, lengths[:, None, None] - 1, 1)[:, 0]
            return nn.RMSNorm(dtype=now, name="norm")(last) @ table.astype(now).T
    return Llama()


def llama_prefill(layers, width, heads, kv_heads, hidden, vocab, batch, length, more, chunk, kind=BF16):
    """Prompts, padded to one length, fill the caches that decoding goes on with; only the last words have logits."""
    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        room = (length + more) // change.length_divisor
        model = llama_module(layers, width, heads, kv_heads, hidden, vocab, room, chunk, now)
        tokens, lengths = arrays.batch((b, time), jnp.int32), arrays.batch((b,), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), tokens, lengths)
        split = 0 if split_of_caches(change) else None
        cache = jax.tree.map(lambda line: arrays.array(line.shape, line.dtype, split), shapes["cache"])

        def prefill(params, cache, tokens, lengths):
            logits, made = model.apply({"params": params, "cache": cache}, tokens, lengths, mutable=["cache"])
            return jnp.argmax(logits.astype(F32), -1).astype(jnp.int32), made["cache"]
        return prefill, (placed(arrays, as_kind(shapes["params"], change.stored)), cache, tokens, lengths), (1,)
    return make


# --- Gemma 2: drafts are checked, layers see a window or everything ---

def gemma2_params(arrays, pairs, width, heads, kv_heads, side, hidden, vocab):
    def stack(rows, columns):
        return half_weight(arrays, (pairs, rows, columns), 1)

    def layer():
        norms = {name: arrays.array((pairs, width), BF16)
                 for name in ("pre_attn_norm", "post_attn_norm", "pre_ffw_norm", "post_ffw_norm")}
        return norms | {"q_proj": stack(width, heads * side), "k_proj": stack(width, kv_heads * side),
                        "v_proj": stack(width, kv_heads * side), "o_proj": stack(heads * side, width),
                        "gate_proj": stack(width, hidden), "up_proj": stack(width, hidden),
                        "down_proj": stack(hidden, width)}
    return {"embedder": arrays.array((vocab, width), BF16, 0), "final_norm": arrays.array((width,), BF16),
            "layers": {"local": layer(), "global": layer()}}


def gemma2_verify(pairs, width, heads, kv_heads, side, hidden, vocab, window, slack, drafts, batch, room, kind=BF16):
    """The words of a smaller model are checked at once; each pair of layers has a ring and a full cache."""
    def make(arrays, change):
        b, slots, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        ring = min(window + slack, slots)
        params = gemma2_params(arrays, pairs, width, heads, kv_heads, side, hidden, vocab)

        def empty(size):
            line = arrays.array((pairs, b, size, kv_heads, side), BF16, 1 if split_of_caches(change) else None)
            return {"k": line, "v": line}
        caches = {"local": empty(ring), "global": empty(slots)}
        rows = jnp.arange(b)[:, None]

        def attend(p, x, cache, positions, reach):
            size = cache["k"].shape[1]
            q = apply_rope((x @ p["q_proj"]).reshape(b, -1, heads, side), positions, 1e4) * side ** -0.5
            k = apply_rope((x @ p["k_proj"]).reshape(b, -1, kv_heads, side), positions, 1e4)
            v = (x @ p["v_proj"]).reshape(b, -1, kv_heads, side)
            cache = {"k": cache["k"].at[rows, positions % size].set(k.astype(BF16)),
                     "v": cache["v"].at[rows, positions % size].set(v.astype(BF16))}
            last = positions[:, -1:]
            held = last - (last - jnp.arange(size)) % size
            away = positions[:, :, None] - held[:, None]
            mask = (held[:, None] >= 0) & (away >= 0) & (away < reach)
            q = q.reshape(b, -1, kv_heads, heads // kv_heads, side)
            logits = jnp.einsum("bsngd,btnd->bngst", q, cache["k"]).astype(F32)
            logits = jnp.where(mask[:, None, None], 50.0 * jnp.tanh(logits / 50.0), -2e38)
            out = jnp.einsum("bngst,btnd->bsngd", jax.nn.softmax(logits).astype(now), cache["v"])
            return out.reshape(b, -1, heads * side) @ p["o_proj"], cache

        def block(p, x, cache, positions, reach):
            out, cache = attend(p, root_normed(x, 1 + p["pre_attn_norm"]), cache, positions, reach)
            x = x + root_normed(out, 1 + p["post_attn_norm"])
            h = root_normed(x, 1 + p["pre_ffw_norm"])
            h = (jax.nn.gelu(h @ p["gate_proj"]) * (h @ p["up_proj"])) @ p["down_proj"]
            return x + root_normed(h, 1 + p["post_ffw_norm"]), cache

        def verify(params, caches, tokens, lengths):
            params = as_kind(params, now)
            positions = lengths[:, None] + jnp.arange(1 + drafts)

            def pair(x, given):
                p, cache = given
                x, near = block(p["local"], x, cache["local"], positions, window)
                x, far = block(p["global"], x, cache["global"], positions, slots)
                return x, {"local": near, "global": far}
            x = params["embedder"][tokens] * jnp.asarray(width ** 0.5, now)
            x, caches = jax.lax.scan(pair, x, (params["layers"], caches))
            logits = (root_normed(x, 1 + params["final_norm"]) @ params["embedder"].T).astype(F32)
            said = jnp.argmax(30.0 * jnp.tanh(logits / 30.0), -1).astype(jnp.int32)
            agreed = jnp.cumprod((said[:, :-1] == tokens[:, 1:]).astype(jnp.int32), 1).sum(1)
            return said, agreed, caches, lengths + 1 + agreed
        tokens = arrays.batch((b, 1 + drafts), jnp.int32)
        return verify, (params, caches, tokens, arrays.batch((b,), jnp.int32)), (1,)
    return make
