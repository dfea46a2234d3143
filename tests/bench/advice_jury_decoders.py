"""Language models near the capacity of a chip, and one whose logits over a large vocabulary are most of it.

Qwen 3 as a scan, RoBERTa as a list of layers with weights [out, in] under LAMB, Gemma 3 of 262144 words under lion.
As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_jury_accumulated import causal, layer_normed, rotated
from advice_structures import BF16, F32


# --- Qwen 3: layers in a scan, near the capacity ---

def qwen_layer(p, x, groups, side):
    """p in float32 as stored; cast at each use."""
    def of(name):
        return p[name].astype(x.dtype)
    b, t, _ = x.shape
    h = root_normed(x, of("input_norm"))
    q, k, v = ((h @ of(name)).reshape(b, t, -1, side) for name in ("q_proj", "k_proj", "v_proj"))
    q = rotated(root_normed(q, of("q_norm")), side, 1e6)
    k = rotated(root_normed(k, of("k_norm")), side, 1e6)
    k, v = jnp.repeat(k, groups, 2), jnp.repeat(v, groups, 2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=F32) * side ** -0.5
    probs = jax.nn.softmax(causal(scores)).astype(x.dtype)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(b, t, -1) @ of("o_proj")
    h = root_normed(x, of("post_norm"))
    return x + (jax.nn.silu(h @ of("gate_proj")) * (h @ of("up_proj"))) @ of("down_proj")


def near_qwen(layers, width, heads, kv_heads, side, hidden, vocab, batch, length, kind=BF16):
    """Tied embeddings; the norms of queries and keys are for each head."""
    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        stack = {"q_proj": (layers, width, heads * side), "k_proj": (layers, width, kv_heads * side),
                 "v_proj": (layers, width, kv_heads * side), "o_proj": (layers, heads * side, width),
                 "gate_proj": (layers, width, hidden), "up_proj": (layers, width, hidden),
                 "down_proj": (layers, hidden, width), "q_norm": (layers, side), "k_norm": (layers, side),
                 "input_norm": (layers, width), "post_norm": (layers, width)}
        shapes = shaped(embed_tokens=(vocab, width), norm=(width,), layer_stack=stack)
        block = maybe_checkpointed(change, lambda p, x: qwen_layer(p, x, heads // kv_heads, side))

        def loss_fn(params, input_ids, labels, mask):
            x = params["embed_tokens"].astype(now)[input_ids]
            x, _ = jax.lax.scan(lambda x, p: (block(p, x), None), x, params["layer_stack"])
            x = root_normed(x, params["norm"].astype(now))
            logits = jnp.einsum("btd,vd->btv", x, params["embed_tokens"].astype(now))
            return word_loss(logits, labels, mask)
        words = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, clipped_adamw(), words, words,
                                arrays.batch((b, time), F32))
    return make


# --- RoBERTa: a list of layers, near the capacity, all in float32 ---

def linear(p, x):
    """Weights are [out, in], as torch keeps them."""
    return x @ p["weight"].T + p["bias"]


def roberta_layer(p, x, bias, heads):
    b, t, width = x.shape
    q, k, v = (linear(p[name], x).reshape(b, t, heads, -1).transpose(0, 2, 1, 3) for name in ("query", "key", "value"))
    scores = (q @ k.swapaxes(-1, -2)).astype(F32) / (width // heads) ** 0.5 + bias
    context = (jax.nn.softmax(scores, -1).astype(x.dtype) @ v).transpose(0, 2, 1, 3).reshape(b, t, width)
    x = layer_normed(x + linear(p["attention_output"], context), p["attention_norm"])
    h = jax.nn.gelu(linear(p["intermediate"], x), approximate=False)
    return layer_normed(x + linear(p["output"], h), p["output_norm"])


def near_roberta(layers, width, heads, hidden, vocab, places, batch, length, kind=F32):
    """Masked words, the head tied to the embedding."""
    def make(arrays, change):
        import optax
        b, time = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)

        def dense(rows, columns):
            return {"weight": (rows, columns), "bias": (rows,)}
        norm = {"scale": (width,), "bias": (width,)}
        layer = {"query": dense(width, width), "key": dense(width, width), "value": dense(width, width),
                 "attention_output": dense(width, width), "attention_norm": norm,
                 "intermediate": dense(hidden, width), "output": dense(width, hidden), "output_norm": norm}
        shapes = shaped(word_embeddings=(vocab, width), position_embeddings=(places, width), embedding_norm=norm,
                        lm_head={"dense": dense(width, width), "norm": norm, "bias": (vocab,)})
        shapes["layers"] = [shaped(**layer) for _ in range(layers)]
        block = maybe_checkpointed(change, lambda p, x, bias: roberta_layer(p, x, bias, heads))

        def loss_of(params, ids, attention_mask, labels):
            p = as_kind(params, now)
            x = p["word_embeddings"][ids] + p["position_embeddings"][2:time + 2]
            x = layer_normed(x, p["embedding_norm"])
            bias = jnp.where(attention_mask > 0, 0.0, jnp.finfo(F32).min)[:, None, None]
            for one in p["layers"]:
                x = block(one, x, bias)
            head = p["lm_head"]
            x = layer_normed(jax.nn.gelu(linear(head["dense"], x), approximate=False), head["norm"])
            logits = x @ p["word_embeddings"].T + head["bias"]
            return word_loss(logits, jnp.maximum(labels, 0), (labels != -100).astype(F32))
        rows = arrays.batch((b, time), jnp.int32)
        optimizer = optax.lamb(warmed_up(2e-3), weight_decay=0.01, mask=matrices_only)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, rows, rows, rows)
    return make


# --- Gemma 3: a large vocabulary, logits in float32 ---

def gemma_layer(p, x, window, base):
    """One head of keys and values for all queries; norms before and after; a window of words, or None for all."""
    side, time = p["q_norm"].shape[0], x.shape[1]
    h = root_normed(x, 1 + p["pre_attention_norm"])
    q = rotated(root_normed(jnp.einsum("btd,ndh->btnh", h, p["q_einsum"]), 1 + p["q_norm"]), side, base)
    k, v = jnp.einsum("bsd,cdh->cbsh", h, p["kv_einsum"])
    k = rotated(root_normed(k, 1 + p["k_norm"])[:, :, None], side, base)[:, :, 0]
    scores = causal(jnp.einsum("btnh,bsh->bnts", q * side ** -0.5, k))
    if window:
        away = jnp.arange(time)[:, None] - jnp.arange(time)
        scores = jnp.where(away < window, scores, -2.3e38)
    mixed = jnp.einsum("bnts,bsh->btnh", jax.nn.softmax(scores).astype(x.dtype), v)
    attended = jnp.einsum("btnh,nhd->btd", mixed, p["attn_vec_einsum"])
    x = x + root_normed(attended, 1 + p["post_attention_norm"])
    h = root_normed(x, 1 + p["pre_ffw_norm"])
    gate, up = jnp.einsum("btd,gfd->gbtf", h, p["gating_einsum"])
    h = (jax.nn.gelu(gate) * up) @ p["linear"]
    return x + root_normed(h, 1 + p["post_ffw_norm"])


def vocabulary_gemma(layers, width, heads, side, hidden, vocab, window, batch, length, kind=BF16):
    """Every sixth layer sees all words; the table is the head too."""
    def make(arrays, change):
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        norms = {f"{when}_{what}_norm": (width,) for when in ("pre", "post") for what in ("attention", "ffw")}
        layer = norms | {"q_einsum": (heads, width, side), "kv_einsum": (2, width, side),
                         "attn_vec_einsum": (heads, side, width), "gating_einsum": (2, hidden, width),
                         "linear": (hidden, width), "q_norm": (side,), "k_norm": (side,)}
        shapes = shaped(embedder={"input_embedding": (vocab, width)}, final_norm=(width,),
                        **{f"layer_{i}": layer for i in range(layers)})

        def block_of(is_global):
            return maybe_checkpointed(change, lambda p, x: gemma_layer(
                p, x, None if is_global else window, 1e6 if is_global else 1e4))

        def loss_of(params, tokens, targets, mask):
            p = as_kind(params, now)
            table = p["embedder"]["input_embedding"]
            x = table[tokens] * jnp.sqrt(width).astype(now)
            for i in range(layers):
                x = block_of(i % 6 == 5)(p[f"layer_{i}"], x)
            logits = jnp.dot(root_normed(x, 1 + p["final_norm"]), table.T).astype(F32)
            chances = jax.nn.log_softmax(logits, -1)
            losses = -jnp.take_along_axis(chances, targets[..., None], -1)[..., 0] * mask
            return losses.sum() / (mask.sum() + 1e-8)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(warmed_up(1e-4), weight_decay=0.1))
        words = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, words, words,
                                arrays.batch((b, time), F32))
    return make
