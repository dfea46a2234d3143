"""Frozen models with a little that is trained: LoRA on Phi-2, layers unrolled, and adapters in XLM-R, in a scan.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_panel_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, warmed_up, word_loss
from advice_fresh import graded, maybe_checkpointed, shaped
from advice_structures import BF16, F32


# --- What they share ---

def tuned(arrays, change, adapters, frozen, loss_of, optimizer, *batch):
    """Only adapters have gradients and a state; what is frozen is an argument that is not given back."""
    import optax
    adapters = as_kind(adapters, change.stored)
    state = jax.eval_shape(optimizer.init, adapters)

    def train_step(adapters, state, frozen, *batch):
        def of_rows(adapters, *rows):
            return loss_of(adapters, frozen, *rows)
        loss, grads = graded(of_rows, change.parts)(adapters, *batch)
        updates, state = optimizer.update(grads, state, adapters)
        return optax.apply_updates(adapters, updates), state, loss
    return train_step, (placed(arrays, adapters), placed(arrays, state), placed(arrays, frozen), *batch), (0, 1)


def layer_norm(p, x, eps=1e-5):
    wide = x.astype(F32)
    mean = wide.mean(-1, keepdims=True)
    var = jnp.square(wide - mean).mean(-1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(var + eps)).astype(x.dtype) * p["scale"] + p["bias"]


# --- LoRA on Phi-2, unrolled ---

LORA_TARGETS = "q_proj", "k_proj", "v_proj", "dense"


def phi_shapes(layers, width, hidden, vocab):
    def linear(rows, columns):
        return {"kernel": (rows, columns), "bias": (columns,)}

    def norm():
        return {"scale": (width,), "bias": (width,)}
    layer = {"input_layernorm": norm(), "fc1": linear(width, hidden), "fc2": linear(hidden, width)}
    layer |= {name: linear(width, width) for name in LORA_TARGETS}
    whole = shaped(embed_tokens=(vocab, width), final_layernorm=norm(), lm_head=linear(width, vocab))
    return whole | {"layers": [shaped(**layer) for _ in range(layers)]}


def partly_turned(x, rotary):
    """[batch, time, heads, side]: the first of each head's numbers tell where it is."""
    half = rotary // 2
    angles = jnp.arange(x.shape[1])[:, None, None] * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    a, b, rest = jnp.split(x, (half, rotary), -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin, rest], -1)


def phi_lora(layers, width, heads, hidden, vocab, rank, batch, length, rotary=32, alpha=32, kind=BF16):
    """Instructions, of whose answers alone the loss is; weights are bfloat16, adapters and their Adam float32."""
    side = width // heads

    def make(arrays, change):
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        frozen = as_kind(phi_shapes(layers, width, hidden, vocab), BF16)
        pair = {"lora_a": (width, rank), "lora_b": (rank, width)}
        adapters = [shaped(**{name: pair for name in LORA_TARGETS}) for _ in range(layers)]

        def linear(p, x):
            return x @ p["kernel"].astype(now) + p["bias"].astype(now)

        def with_lora(p, lora, name, x):
            low = x @ lora[name]["lora_a"].astype(now)
            return linear(p[name], x) + (alpha / rank) * (low @ lora[name]["lora_b"].astype(now))

        def layer(x, p, lora):
            rows, seen = x.shape[0], jnp.tril(jnp.ones((time, time), bool))
            h = layer_norm(as_kind(p["input_layernorm"], now), x)
            q, k, v = (with_lora(p, lora, name, h).reshape(rows, time, heads, side)
                       for name in ("q_proj", "k_proj", "v_proj"))
            q, k = partly_turned(q, rotary), partly_turned(k, rotary)
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * side ** -0.5
            probs = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(now)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(rows, time, width)
            ff = linear(p["fc2"], jax.nn.gelu(linear(p["fc1"], h)))
            return x + with_lora(p, lora, "dense", mixed) + ff
        block = maybe_checkpointed(change, layer)

        def loss_of(adapters, frozen, ids, answers):
            x = frozen["embed_tokens"][ids].astype(now)
            for p, lora in zip(frozen["layers"], adapters):
                x = block(x, p, lora)
            logits = linear(frozen["lm_head"], layer_norm(as_kind(frozen["final_layernorm"], now), x))
            return word_loss(logits[:, :-1], ids[:, 1:], answers[:, 1:].astype(F32))
        rows = arrays.batch((b, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(0.3), optax.adamw(warmed_up(2e-4), weight_decay=0.0))
        return tuned(arrays, change, adapters, frozen, loss_of, optimizer, rows, rows)
    return make


# --- Bottleneck adapters in XLM-R, in a scan ---

def xlmr_shapes(layers, width, hidden, vocab, places):
    """Matrices lie as torch has them, [out, in]."""
    def linear(rows, columns):
        return {"weight": (layers, rows, columns), "bias": (layers, rows)}

    def norm():
        return {"scale": (layers, width), "bias": (layers, width)}
    return shaped(word_embeddings=(vocab, width), position_embeddings=(places, width),
                  embeddings_norm={"scale": (width,), "bias": (width,)},
                  layer_stack={"query": linear(width, width), "key": linear(width, width),
                               "value": linear(width, width), "attention_output": linear(width, width),
                               "attention_norm": norm(),
                               "intermediate": linear(hidden, width), "output": linear(width, hidden),
                               "output_norm": norm()})


def linear_out_in(p, x):
    return jnp.einsum("...i,oi->...o", x, p["weight"]) + p["bias"]


def xlmr_adapters(layers, width, heads, hidden, vocab, places, bottleneck, classes, batch, length, kind=F32):
    """Natural language inference: a bottleneck after each feed-forward, and a head; all else is as it was trained."""
    side = width // heads

    def make(arrays, change):
        import optax
        b, time = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        frozen = as_kind(xlmr_shapes(layers, width, hidden, vocab, places), change.stored)
        learnt = shaped(layer_stack={"down": {"weight": (layers, bottleneck, width), "bias": (layers, bottleneck)},
                                     "up": {"weight": (layers, width, bottleneck), "bias": (layers, width)}},
                        dense={"weight": (width, width), "bias": (width,)},
                        out_proj={"weight": (classes, width), "bias": (classes,)})

        def encode(learnt, p, ids, mask):
            bias = jnp.where(mask > 0, 0.0, -1e9)[:, None, None].astype(F32)

            def layer(x, w, adapter):
                q, k, v = (linear_out_in(w[name], x).reshape(*x.shape[:2], heads, side)
                           for name in ("query", "key", "value"))
                scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * side ** -0.5 + bias
                probs = jax.nn.softmax(scores).astype(now)
                mixed = jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(x.shape)
                x = layer_norm(w["attention_norm"], x + linear_out_in(w["attention_output"], mixed))
                h = linear_out_in(w["output"], jax.nn.gelu(linear_out_in(w["intermediate"], x), approximate=False))
                h = h + linear_out_in(adapter["up"], jax.nn.relu(linear_out_in(adapter["down"], h)))
                return layer_norm(w["output_norm"], x + h)
            block = maybe_checkpointed(change, layer)
            positions = jnp.cumsum(mask, 1) * mask + 1
            x = layer_norm(p["embeddings_norm"], p["word_embeddings"][ids] + p["position_embeddings"][positions])
            x, _ = jax.lax.scan(lambda x, both: (block(x, *both), None), x,
                                (p["layer_stack"], learnt["layer_stack"]))
            return x

        def loss_of(learnt, frozen, ids, mask, labels):
            learnt, p = as_kind(learnt, now), as_kind(frozen, now)
            pooled = encode(learnt, p, ids, mask)[:, 0]
            logits = linear_out_in(learnt["out_proj"], jnp.tanh(linear_out_in(learnt["dense"], pooled)))
            return word_loss(logits, labels)
        rows = arrays.batch((b, time), jnp.int32)
        return tuned(arrays, change, learnt, frozen, loss_of, optax.lion(warmed_up(3e-5), weight_decay=0.01),
                     rows, rows, arrays.batch((b,), jnp.int32))
    return make
