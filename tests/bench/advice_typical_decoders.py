"""Decoders trained and prompts read, in usual sizes: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). Written by
somebody who had seen neither the rules nor any figure of the advice.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, warmed_up
from advice_typical_words import cross_entropy, rms, rope
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Like Llama, one scan over stacked weights of three dimensions ---

def maxtext_like(layers, emb, q_heads, kv_heads, head_dim, mlp, vocab, batch, seq, kind=BF16):
    def make(arrays, change):
        b, t = batch // change.batch_divisor, seq // change.length_divisor
        stack = {"pre_attention_norm": (layers, emb), "pre_mlp_norm": (layers, emb),
                 "query": (layers, emb, q_heads, head_dim), "key": (layers, emb, kv_heads, head_dim),
                 "value": (layers, emb, kv_heads, head_dim), "out": (layers, q_heads, head_dim, emb),
                 "wi_0": (layers, emb, mlp), "wi_1": (layers, emb, mlp), "wo": (layers, mlp, emb)}
        shapes = shaped(token_embedder=(vocab, emb), decoder_norm=(emb,), logits_dense=(emb, vocab), layer_stack=stack)

        def layer(x, w):
            h = rms(x, w["pre_attention_norm"])
            pos = jnp.arange(x.shape[1], dtype=F32)
            query = rope(jnp.einsum("bte,ehd->bthd", h, w["query"]), pos, 5e5) / head_dim ** 0.5
            key = rope(jnp.einsum("bte,ehd->bthd", h, w["key"]), pos, 5e5)
            value = jnp.einsum("bte,ehd->bthd", h, w["value"])
            query = query.reshape(*x.shape[:2], kv_heads, q_heads // kv_heads, head_dim)
            scores = jnp.einsum("btkgd,bskd->bkgts", query, key)
            mask = pos[:, None] >= pos[None]
            probs = jax.nn.softmax(jnp.where(mask, scores.astype(F32), -2.0 ** 30), axis=-1).astype(x.dtype)
            mixed = jnp.einsum("bkgts,bskd->btkgd", probs, value).reshape(*x.shape[:2], q_heads, head_dim)
            x = x + jnp.einsum("bthd,hde->bte", mixed, w["out"])
            h = rms(x, w["pre_mlp_norm"])
            gated = jax.nn.silu(jnp.einsum("bte,em->btm", h, w["wi_0"])) * jnp.einsum("bte,em->btm", h, w["wi_1"])
            return x + jnp.einsum("btm,me->bte", gated, w["wo"])

        def loss_fn(params, inputs, targets):
            params = as_kind(params, computed(change, kind))
            body = maybe_checkpointed(change, layer)
            x = params["token_embedder"][inputs]
            x, _ = jax.lax.scan(lambda x, w: (body(x, w), None), x, params["layer_stack"])
            return cross_entropy(rms(x, params["decoder_norm"]) @ params["logits_dense"], targets)
        import optax
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(3e-4), b2=0.95, eps=1e-5))
        ids = arrays.batch((b, t), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, optimizer, ids, ids)
    return make


# --- Like GPT-2, in haiku ---

def haiku_gpt(layers, width, heads, vocab, batch, seq, kind=BF16):
    """GPT-2 in haiku, with hk.MultiHeadAttention; parameters are cast before they are applied; adamw."""
    def make(arrays, change):
        import haiku as hk
        import optax
        t = seq // change.length_divisor
        init = hk.initializers.RandomNormal(0.02)
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None

        def norm(name):
            return hk.LayerNorm(-1, True, True, name=name)

        def forward(ids):
            wte = hk.Embed(vocab, width, w_init=init, name="wte")
            wpe = hk.get_parameter("wpe", (seq, width), init=init)
            x = wte(ids) + wpe[:ids.shape[1]].astype(wte.embeddings.dtype)
            mask = jnp.tril(jnp.ones((1, 1, ids.shape[1], ids.shape[1]), bool))
            for i in range(layers):
                attention = hk.MultiHeadAttention(heads, width // heads, w_init=init, name=f"h{i}_attn")
                up, down = hk.Linear(4 * width, name=f"h{i}_fc"), hk.Linear(width, name=f"h{i}_proj")
                ln_1, ln_2 = norm(f"h{i}_ln_1"), norm(f"h{i}_ln_2")

                def block(x, attention=attention, up=up, down=down, ln_1=ln_1, ln_2=ln_2):
                    h = ln_1(x)
                    x = x + attention(h, h, h, mask=mask)
                    return x + down(jax.nn.gelu(up(ln_2(x))))
                x = (hk.remat(block, policy=policy) if change.rematerialize else block)(x)
            return norm("ln_f")(x) @ wte.embeddings.T

        net = hk.without_apply_rng(hk.transform(forward))
        shapes = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))

        def loss_fn(params, ids):
            logits = net.apply(as_kind(params, computed(change, kind)), ids[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), ids[:, 1:]).mean()
        optimizer = optax.adamw(warmed_up(2.5e-4), b2=0.99, weight_decay=0.01, mask=matrices_only)
        ids = arrays.batch((batch // change.batch_divisor, t + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, optimizer, ids)
    return make


# --- Prompts ---

def gemma_like_prefill(layers, dim, heads, head_dim, hidden, vocab, batch, prompt, kind=BF16):
    """One key head, unrolled: a dictionary of caches by layer; capped scores; the table of words is the head."""
    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, prompt // change.length_divisor, computed(change, kind)

        def layer():
            return {"q_einsum": arrays.parameter((dim, heads * head_dim)),
                    "kv_einsum": arrays.parameter((dim, 2 * head_dim)),
                    "attn_vec": arrays.parameter((heads * head_dim, dim)),
                    "gating": arrays.parameter((dim, 2 * hidden)), "linear": arrays.parameter((hidden, dim)),
                    "pre_attn": arrays.parameter((dim,), None), "pre_ffw": arrays.parameter((dim,), None)}
        params = {"embedder": arrays.parameter((vocab, dim)), "final_norm": arrays.parameter((dim,), None)}
        params |= {f"layer_{i}": layer() for i in range(layers)}

        def apply(w, x, mask):
            h, pos = rms(x, 1 + w["pre_attn"]), jnp.arange(t, dtype=F32)
            q = rope((h @ w["q_einsum"]).reshape(b, t, heads, head_dim), pos) * head_dim ** -0.5
            k, v = jnp.split(h @ w["kv_einsum"], 2, axis=-1)
            k = rope(k[:, :, None], pos)[:, :, 0]
            scores = 50.0 * jnp.tanh(jnp.einsum("btnh,bsh->bnts", q, k).astype(F32) / 50.0)
            probs = jax.nn.softmax(jnp.where(mask, scores, -2.3819763e38), -1).astype(now)
            x = x + jnp.einsum("bnts,bsh->btnh", probs, v).reshape(b, t, -1) @ w["attn_vec"]
            gate, up = jnp.split(rms(x, 1 + w["pre_ffw"]) @ w["gating"], 2, axis=-1)
            return x + (jax.nn.gelu(gate) * up) @ w["linear"], {"k": k, "v": v}

        def prefill(params, tokens):
            params = as_kind(params, now)
            x = params["embedder"][tokens] * jnp.sqrt(dim).astype(now)
            mask, caches = jnp.tril(jnp.ones((t, t), bool))[None, None], {}
            for i in range(layers):
                x, caches[f"layer_{i}"] = apply(params[f"layer_{i}"], x, mask)
            last = rms(x[:, -1], 1 + params["final_norm"])
            return jnp.einsum("bd,vd->bv", last, params["embedder"]).astype(F32), caches
        return prefill, (params, arrays.batch((b, t), jnp.int32)), ()
    return make


def qwen_like_prefill(layers, dim, heads, groups, hidden, vocab, batch, prompt, kind=BF16):
    """Queries in groups, scanned: what the scan gives for each layer is the cache; biases of query, key and value."""
    hd = dim // heads

    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, prompt // change.length_divisor, computed(change, kind)
        matrices = {"q": (dim, dim), "k": (dim, groups * hd), "v": (dim, groups * hd), "o": (dim, dim),
                    "gate": (dim, hidden), "up": (dim, hidden), "down": (hidden, dim)}
        vectors = {"q_b": dim, "k_b": groups * hd, "v_b": groups * hd, "ln1": dim, "ln2": dim}
        stack = {name: arrays.parameter((layers, *shape), 1) for name, shape in matrices.items()}
        stack |= {name: arrays.parameter((layers, size), None) for name, size in vectors.items()}
        params = {"embed_tokens": arrays.parameter((vocab, dim)), "lm_head": arrays.parameter((dim, vocab)),
                  "norm": arrays.parameter((dim,), None), "layer_stack": stack}

        def body(x, w):
            w = as_kind(w, now)
            h, pos = rms(x, w["ln1"], 1e-6), jnp.arange(t, dtype=F32)
            q, k, v = ((h @ w[n] + w[f"{n}_b"]).reshape(b, t, -1, hd) for n in "qkv")
            q, k = rope(q, pos, 1e6), rope(k, pos, 1e6)
            mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
            x = x + mixed.reshape(b, t, dim) @ w["o"]
            h = rms(x, w["ln2"], 1e-6)
            return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], (k, v)

        def prefill(params, ids, lengths):
            x = params["embed_tokens"].astype(now)[ids]
            x, (keys, values) = jax.lax.scan(body, x, params["layer_stack"])
            x = x[jnp.arange(b), lengths - 1]
            logits = rms(x, params["norm"].astype(now), 1e-6) @ params["lm_head"].astype(now)
            return logits.astype(F32), {"k": keys, "v": values}
        return prefill, (params, arrays.batch((b, t), jnp.int32), arrays.batch((b,), jnp.int32)), ()
    return make
