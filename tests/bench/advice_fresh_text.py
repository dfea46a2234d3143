"""More programs of language of the exam of advice_fresh.py, which says what each maker takes and gives."""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, next_word_loss, placed
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32


def rotated(x):
    """Of [batch, time, head, side]: pairs of neighbours turned by their place."""
    side = x.shape[-1]
    angles = jnp.arange(x.shape[1])[:, None] / 500000.0 ** (jnp.arange(0, side, 2) / side)
    sine, cosine = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    even, odd = x[..., ::2].astype(F32), x[..., 1::2].astype(F32)
    both = jnp.stack([even * cosine - odd * sine, odd * cosine + even * sine], -1)
    return both.reshape(x.shape).astype(x.dtype)


# --- Policy of groups ---

def grouped_answers(layers, width, heads, groups, hidden, vocabulary, prompts, answers, length, kind=BF16):
    """GRPO: several answers a prompt, weighed by how much better than their group; every second block checkpointed."""
    side = width // heads

    def make(arrays, change):
        layer = {"wq": (width, width), "wkv": (width, 2 * groups * side), "wo": (width, width),
                 "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width), "norm1": (width,),
                 "norm2": (width,)}
        shapes = shaped(embed=(vocabulary, width), norm=(width,), head=(width, vocabulary),
                        **{f"layer{i}": layer for i in range(layers)})
        size, length_now = prompts // change.batch_divisor * answers, length // change.length_divisor

        def block(p, x):
            h = root_normed(x, p["norm1"])
            query = rotated((h @ p["wq"]).reshape(*x.shape[:2], heads, side))
            key, value = jnp.split((h @ p["wkv"]).reshape(*x.shape[:2], 2 * groups, side), 2, 2)
            mixed = jax.nn.dot_product_attention(query, rotated(key), value, is_causal=True)
            x = x + mixed.reshape(x.shape) @ p["wo"]
            h = root_normed(x, p["norm2"])
            return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]

        def said(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["embed"][ids[:, :-1]]
            for i in range(layers):
                one = jax.checkpoint(block) if i % 2 else maybe_checkpointed(change, block)
                x = one(p[f"layer{i}"], x)
            logits = (root_normed(x, p["norm"]) @ p["head"]).astype(F32)
            chosen = jnp.take_along_axis(logits, ids[:, 1:, None], -1)[..., 0]
            return chosen - jax.nn.logsumexp(logits, -1)

        def loss_of(params, reference, ids, mask, before, rewards):
            grouped = rewards.reshape(-1, answers).astype(F32)
            better = (grouped - grouped.mean(1, keepdims=True)) / (grouped.std(1, keepdims=True) + 1e-4)
            better = better.reshape(-1, 1)
            now, wanted = said(params, ids), said(jax.lax.stop_gradient(reference), ids)
            ratio = jnp.exp(now - before)
            gained = jnp.minimum(ratio * better, jnp.clip(ratio, 0.8, 1.28) * better)
            apart = jnp.exp(wanted - now) - (wanted - now) - 1
            return -jnp.sum((gained - 0.04 * apart) * mask) / mask.sum()
        words = arrays.batch((size, length_now), jnp.int32)
        kept = arrays.batch((size, length_now - 1), F32)
        reference = placed(arrays, as_kind(shapes, change.stored))
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(1e-6), reference, words, kept, kept,
                                arrays.batch((size,), F32))
    return make


# --- Weights of few bits ---

def byte_weights(layers, width, heads, hidden, vocabulary, rank, span, batch, length, kind=BF16):
    """QLoRA: frozen weights as bytes with a scale for each `span`, read by a scan; thin products beside are trained."""
    matrices = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width),
                "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}

    def make(arrays, change):
        import optax
        thin = {name: {"a": (layers, rows, rank), "b": (layers, rank, columns)}
                for name, (rows, columns) in matrices.items()}
        shapes = {"scanned": shaped(**thin)}
        frozen = {"bytes": {name: arrays.array((layers, rows, columns), jnp.int8, 1)
                            for name, (rows, columns) in matrices.items()},
                  "scales": {name: arrays.parameter((layers, rows // span, columns), 2)
                             for name, (rows, columns) in matrices.items()},
                  "norms": arrays.parameter((layers, 2, width), None),
                  "words": arrays.parameter((vocabulary, width)), "head": arrays.parameter((width, vocabulary))}
        now = computed(change, kind)

        def product(x, of, name):
            values, scales, added = of["bytes"][name], of["scales"][name], of["thin"][name]
            wide = values.astype(now).reshape(-1, span, values.shape[1]) * scales.astype(now)[:, None]
            thin = (x @ added["a"].astype(now)) @ added["b"].astype(now)
            return x @ wide.reshape(values.shape) + 0.5 * thin

        def block(x, of):
            h = root_normed(x, of["norms"][0].astype(now))
            query, key, value = (product(h, of, name).reshape(*x.shape[:2], heads, -1) for name in "qkv")
            mixed = jax.nn.dot_product_attention(rotated(query), rotated(key), value, is_causal=True)
            x = x + product(mixed.reshape(x.shape), of, "o")
            h = root_normed(x, of["norms"][1].astype(now))
            return x + product(jax.nn.silu(product(h, of, "gate")) * product(h, of, "up"), of, "down"), None

        def loss_of(params, frozen, ids):
            layered = {name: frozen[name] for name in ("bytes", "scales", "norms")} | {"thin": params["scanned"]}
            x, _ = jax.lax.scan(maybe_checkpointed(change, block), frozen["words"].astype(now)[ids], layered)
            return next_word_loss(root_normed(x, 1) @ frozen["head"].astype(now), ids)

        def train_step(params, state, frozen, ids):
            loss, grads = jax.value_and_grad(loss_of)(params, frozen, ids)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        optimizer = optax.chain(optax.clip_by_global_norm(0.3), optax.adamw(2e-4, weight_decay=0.0))
        params = as_kind(shapes, change.stored)
        ids = arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        return train_step, (placed(arrays, params), placed(arrays, jax.eval_shape(optimizer.init, params)), frozen,
                            ids), (0, 1)
    return make
