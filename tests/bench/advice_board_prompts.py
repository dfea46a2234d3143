"""Served: long prompts that fill the caches of Qwen3-0.6B, and a step of beam search with transformers' FlaxMBart.

Each maker has its sizes as arguments and gives make(arrays, change), which gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_board_blocks import BF16, F32, cast, compute_type, for_rows, place, rms_norm, rotate, stored_as

NEVER = -1e7


# --- Qwen3: a prefill, the caches of all layers carried through the scan ---

def qwen3_weights(arrays, layers, width, heads, kv_heads, side, hidden, vocab):
    def stack(rows, columns):
        if arrays.change.quantized:
            return arrays.parameter((layers, rows, columns), 1)
        return arrays.array((layers, rows, columns), BF16, 1)

    def scales(size):
        return arrays.array((layers, size), BF16)
    blocks = {"input_layernorm": scales(width), "post_attention_layernorm": scales(width),
              "q_norm": scales(side), "k_norm": scales(side),
              "q_proj": stack(width, heads * side), "k_proj": stack(width, kv_heads * side),
              "v_proj": stack(width, kv_heads * side), "o_proj": stack(heads * side, width),
              "gate_proj": stack(width, hidden), "up_proj": stack(width, hidden), "down_proj": stack(hidden, width)}
    return {"embed_tokens": arrays.array((vocab, width), BF16, 0), "norm": arrays.array((width,), BF16),
            "blocks": blocks}


def flash_attention(q, k, v, key_block):
    """Causal, of q [b, kv, group, time, side], k and v [b, kv, time, side]; a block of keys at a time."""
    time, side = q.shape[-2:]
    places = jnp.arange(time)

    def one_block(carry, start):
        total, highest, weight = carry
        keys = jax.lax.dynamic_slice_in_dim(k, start, key_block, axis=2)
        values = jax.lax.dynamic_slice_in_dim(v, start, key_block, axis=2)
        scores = jnp.einsum("bkgqh,bksh->bkgqs", q, keys, preferred_element_type=F32) * side ** -0.5
        seen = start + jnp.arange(key_block)[None] <= places[:, None]
        scores = jnp.where(seen, scores, -1e30)
        higher = jnp.maximum(highest, scores.max(-1))
        shrink, chances = jnp.exp(highest - higher), jnp.exp(scores - higher[..., None])
        added = jnp.einsum("bkgqs,bksh->bkgqh", chances.astype(v.dtype), values, preferred_element_type=F32)
        return (total * shrink[..., None] + added, higher, weight * shrink + chances.sum(-1)), None
    start = jnp.zeros(q.shape, F32), jnp.full(q.shape[:-1], -1e30, F32), jnp.zeros(q.shape[:-1], F32)
    (total, _, weight), _ = jax.lax.scan(one_block, start, jnp.arange(0, time, key_block))
    return (total / weight[..., None]).astype(q.dtype)


def qwen3_prefill(layers, width, heads, kv_heads, side, hidden, vocab, batch, length, room, key_block):
    """Prompts padded on the right; only the last token of each has logits, and it has its first answer."""
    groups = heads // kv_heads

    def make(arrays, change):
        rows, time, slots = (batch // change.batch_divisor, length // change.length_divisor,
                             room // change.length_divisor)
        params = qwen3_weights(arrays, layers, width, heads, kv_heads, side, hidden, vocab)
        store = for_rows(arrays, (layers, rows, kv_heads, slots, side), BF16, 1)

        def heads_of(x, kernel, count):
            return (x @ kernel).reshape(rows, time, count, side)

        def layer(carry, given):
            x, cache = carry
            p, i = given
            p, places = cast(p, BF16), jnp.arange(time)
            h = rms_norm(x, p["input_layernorm"])
            q = rotate(rms_norm(heads_of(h, p["q_proj"], heads), p["q_norm"]), places, 1e6)
            k = rotate(rms_norm(heads_of(h, p["k_proj"], kv_heads), p["k_norm"]), places, 1e6).swapaxes(1, 2)
            v = heads_of(h, p["v_proj"], kv_heads).swapaxes(1, 2)
            cache = {name: jax.lax.dynamic_update_slice(cache[name], new[None], (i, 0, 0, 0, 0))
                     for name, new in (("k", k), ("v", v))}
            q = q.reshape(rows, time, kv_heads, groups, side).transpose(0, 2, 3, 1, 4)
            out = flash_attention(q, k, v, key_block)
            x = x + out.transpose(0, 3, 1, 2, 4).reshape(rows, time, heads * side) @ p["o_proj"]
            h = rms_norm(x, p["post_attention_layernorm"])
            x = x + (jax.nn.silu(h @ p["gate_proj"]) * (h @ p["up_proj"])) @ p["down_proj"]
            return (x, cache), None

        def prefill(params, cache, tokens, lengths):
            x = params["embed_tokens"][tokens]
            (x, cache), _ = jax.lax.scan(layer, (x, cache), (params["blocks"], jnp.arange(layers)))
            last = jnp.take_along_axis(x, lengths[:, None, None] - 1, axis=1)[:, 0]
            logits = rms_norm(last, params["norm"]) @ params["embed_tokens"].T
            return jnp.argmax(logits.astype(F32), axis=-1).astype(jnp.int32), cache, lengths + 1
        arguments = (params, {"k": store, "v": store}, arrays.batch((rows, time), jnp.int32),
                     arrays.batch((rows,), jnp.int32))
        return prefill, arguments, (1,)
    return make


# --- FlaxMBart: the body of a beam search ---

def mbart_of(layers, width, heads, hidden, vocab, now):
    from transformers import FlaxMBartForConditionalGeneration, MBartConfig
    config = MBartConfig(vocab_size=vocab, d_model=width, encoder_layers=layers, decoder_layers=layers,
                         encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=hidden,
                         decoder_ffn_dim=hidden, max_position_embeddings=1024, scale_embedding=True)
    return FlaxMBartForConditionalGeneration(config, dtype=now, _do_init=False)


def of_beams(tree, picked):
    """Rows [batch, beams, ...] in the order of the beams that were picked [batch, new beams]."""
    return jax.tree.map(lambda a: jax.vmap(lambda beams, order: beams[order])(a, picked), tree)


def of_cached_beams(cache, picked):
    """As of_beams(), of caches [batch * beams, ...]; counters stay."""
    rows, beams = picked.shape

    def one(line):
        if line.ndim == 0:
            return line
        return of_beams(line.reshape(rows, beams, *line.shape[1:]), picked).reshape(line.shape)
    return jax.tree.map(one, cache)


def beams_kept(state, log_probs, length, end, penalty=1.0):
    """The beams that go on and those that are done, as generate() of transformers has them."""
    rows, beams, vocab = log_probs.shape
    scores = (log_probs + state["running_scores"][..., None]).reshape(rows, beams * vocab)
    best, flat = jax.lax.top_k(scores, 2 * beams)
    origin, tokens = flat // vocab, (flat % vocab).astype(jnp.int32)
    sequences = jax.lax.dynamic_update_slice(of_beams(state["running"], origin), tokens[..., None], (0, 0, length))
    is_done = tokens == end
    running_scores, going = jax.lax.top_k(best + is_done * NEVER, beams)
    running, origin = of_beams((sequences, origin), going)
    ended = best / (length + 1) ** penalty + (~is_done | state["finished"].all(1, keepdims=True)) * NEVER
    scores, kept = jax.lax.top_k(jnp.concatenate([state["scores"], ended], 1), beams)
    sequences, finished = of_beams((jnp.concatenate([state["sequences"], sequences], 1),
                                    jnp.concatenate([state["finished"], is_done], 1)), kept)
    return {"running": running, "running_scores": running_scores, "sequences": sequences, "scores": scores,
            "finished": finished}, origin


def mbart_beams(layers, width, heads, hidden, vocab, batch, beams, source, room, end=2, usual=BF16):
    """Translations; the encoder's output is given for each beam, and caches follow the beams that are kept."""
    def make(arrays, change):
        rows, heard, slots = (batch // change.batch_divisor, source // change.length_divisor,
                              room // change.length_divisor)
        now = compute_type(change, usual)
        model = mbart_of(layers, width, heads, hidden, vocab, now)
        shapes = jax.eval_shape(lambda: model.init_weights(jax.random.PRNGKey(0), (1, 2)))
        cache = jax.eval_shape(lambda: model.init_cache(rows * beams, slots, (jnp.zeros(
            (rows * beams, heard, width), now),)))
        lines, marks = arrays.batch((rows, beams, slots), jnp.int32), for_rows(arrays, (rows, beams), F32)
        state_of = {
            "running": lines, "running_scores": marks, "sequences": lines, "scores": marks,
            "finished": arrays.batch((rows, beams), jnp.bool_), "length": arrays.array((), jnp.int32),
            "cache": jax.tree.map(lambda a: for_rows(arrays, a.shape, a.dtype) if a.ndim else
                                  arrays.array((), a.dtype), cache)}

        def beam_step(params, state, encoded, mask):
            length = state["length"]
            last = jax.lax.dynamic_slice_in_dim(state["running"], length - 1, 1, axis=2).reshape(rows * beams, 1)
            out = model.decode(last, (encoded,), encoder_attention_mask=mask,
                               decoder_attention_mask=jnp.ones((rows * beams, slots), jnp.int32),
                               decoder_position_ids=jnp.full((rows * beams, 1), length - 1),
                               past_key_values=state["cache"], params=params)
            log_probs = jax.nn.log_softmax(out.logits[:, -1].astype(F32)).reshape(rows, beams, vocab)
            kept, origin = beams_kept(state, log_probs, length, end)
            filled = of_cached_beams(out.past_key_values, origin)
            if change.shard:
                filled = jax.lax.with_sharding_constraint(filled, jax.tree.map(lambda a: a.sharding, state_of["cache"]))
            return kept | {"length": length + 1, "cache": filled}
        arguments = (place(arrays, stored_as(shapes, change.stored)), state_of,
                     for_rows(arrays, (rows * beams, heard, width), now),
                     arrays.batch((rows * beams, heard), jnp.int32))
        return beam_step, arguments, (1,)
    return make
