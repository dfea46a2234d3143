"""BERT pretrained as google-research/bert does it: float32, layers unrolled, dropout, masked words gathered, and its
own Adam with decayed weights. Its sizes nearly fill a chip.

The maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_board_training import F32, abstract, cast, compute_dtype, cross_entropy, dealt, maybe_checkpoint, on_chips

DROPOUT = 0.1


def bert_shapes(layers, width, hidden, vocab, places):
    def dense(rows, columns):
        return {"kernel": (rows, columns), "bias": (columns,)}

    def norm():
        return {"gamma": (width,), "beta": (width,)}
    layer = {"attention": {name: dense(width, width) for name in ("query", "key", "value", "output")} |
             {"LayerNorm": norm()},
             "intermediate": dense(width, hidden), "output": dense(hidden, width), "LayerNorm": norm()}
    return abstract({
        "embeddings": {"word_embeddings": (vocab, width), "token_type_embeddings": (2, width),
                       "position_embeddings": (places, width), "LayerNorm": norm()},
        "encoder": [layer for _ in range(layers)], "pooler": dense(width, width),
        "predictions": {"transform": dense(width, width), "LayerNorm": norm(), "output_bias": (vocab,)},
        "seq_relationship": dense(width, 2)})


def dense(p, x):
    return jnp.dot(x, p["kernel"]) + p["bias"]


def layer_norm(p, x):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    var = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-12) * p["gamma"] + p["beta"]


def dropout(key, x):
    return jnp.where(jax.random.bernoulli(key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), jnp.zeros_like(x))


def attention_layer(p, x, adder, key, heads):
    batch, length, width = x.shape
    side = width // heads
    of_probs, of_output = jax.random.split(key)
    query, key_, value = (dense(p[name], x).reshape(batch, length, heads, side).transpose(0, 2, 1, 3)
                          for name in ("query", "key", "value"))
    scores = jnp.matmul(query, key_.transpose(0, 1, 3, 2)) / side ** 0.5 + adder
    probs = dropout(of_probs, jax.nn.softmax(scores, axis=-1))
    context = jnp.matmul(probs, value).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return layer_norm(p["LayerNorm"], x + dropout(of_output, dense(p["output"], context)))


def encoder_layer(p, x, adder, key, heads):
    of_attention, of_output = jax.random.split(key)
    x = attention_layer(p["attention"], x, adder, of_attention, heads)
    h = jax.nn.gelu(dense(p["intermediate"], x), approximate=True)
    return layer_norm(p["LayerNorm"], x + dropout(of_output, dense(p["output"], h)))


def encode(params, ids, mask, segments, key, run):
    tables = params["embeddings"]
    x = tables["word_embeddings"][ids] + tables["token_type_embeddings"][segments]
    x = x + tables["position_embeddings"][None, :ids.shape[1]]
    keys = jax.random.split(key, len(params["encoder"]) + 1)
    x = dropout(keys[0], layer_norm(tables["LayerNorm"], x))
    adder = (1.0 - mask[:, None, None, :].astype(x.dtype)) * -10000.0
    for p, one in zip(params["encoder"], keys[1:]):
        x = run(p, x, adder, one)
    return x


def bert_loss(params, batch, key, run):
    x = encode(params, batch["input_ids"], batch["input_mask"], batch["segment_ids"], key, run)
    head, table = params["predictions"], params["embeddings"]["word_embeddings"]
    masked = jnp.take_along_axis(x, batch["masked_lm_positions"][..., None], axis=1)
    masked = layer_norm(head["LayerNorm"], jax.nn.gelu(dense(head["transform"], masked), approximate=True))
    logits = jnp.matmul(masked, table.T) + head["output_bias"]
    pooled = jnp.tanh(dense(params["pooler"], x[:, 0]))
    of_next = dense(params["seq_relationship"], pooled)
    return (cross_entropy(logits, batch["masked_lm_ids"], batch["masked_lm_weights"]) +
            cross_entropy(of_next, batch["next_sentence_labels"]))


def graded(loss_of, parts):
    """Loss and gradients with a key for the dropouts, of all rows or of parts with a key each."""
    of_one = jax.value_and_grad(loss_of)

    def of_parts(params, batch, key):
        def body(total, given):
            return jax.tree.map(jnp.add, total, of_one(params, *given)), None
        start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        split = jax.tree.map(lambda rows: dealt(rows, parts), batch), jax.random.split(key, parts)
        total, _ = jax.lax.scan(body, start, split)
        return jax.tree.map(lambda one: one / parts, total)
    return of_one if parts == 1 else of_parts


def adam_weight_decay(params, grads, m, v, rate):
    """AdamWeightDecayOptimizer: moments are not corrected, vectors do not decay."""
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * jnp.square(g), v, grads)

    def moved(p, m, v):
        update = m / (jnp.sqrt(v) + 1e-6) + (0.01 * p if p.ndim > 1 else 0.0)
        return (p - rate * update).astype(p.dtype)
    return jax.tree.map(moved, params, m, v), m, v


def pretrained_bert(layers, width, heads, hidden, vocab, places, batch, length, masked, kind=F32):
    def make(arrays, change):
        rows, time, told = (batch // change.batch_divisor, length // change.length_divisor,
                            masked // change.length_divisor)
        now = compute_dtype(change, kind)
        block = maybe_checkpoint(change, lambda *given: encoder_layer(*given, heads))
        params = cast(bert_shapes(layers, width, hidden, vocab, places), change.stored)

        def loss_of(params, batch, key):
            return bert_loss(cast(params, now), batch, key, block)

        def train_step(params, adam_m, adam_v, step, batch, key):
            key = jax.random.wrap_key_data(key, impl="rbg")
            loss, grads = graded(loss_of, change.parts)(params, batch, key)
            norm = jnp.sqrt(sum(jnp.sum(jnp.square(g.astype(F32))) for g in jax.tree.leaves(grads)))
            grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm).astype(g.dtype), grads)
            rate = 1e-4 * jnp.minimum(step / 10_000, 1.0 - step / 1_000_000)
            params, adam_m, adam_v = adam_weight_decay(params, grads, adam_m, adam_v, rate)
            return params, adam_m, adam_v, step + 1, loss
        ids, picked = arrays.batch((rows, time), jnp.int32), arrays.batch((rows, told), jnp.int32)
        batch_of = {"input_ids": ids, "input_mask": ids, "segment_ids": ids, "masked_lm_positions": picked,
                    "masked_lm_ids": picked, "masked_lm_weights": arrays.batch((rows, told), F32),
                    "next_sentence_labels": arrays.batch((rows,), jnp.int32)}
        state = on_chips(arrays, params)
        arguments = (state, state, state, arrays.array((), jnp.int32), batch_of, arrays.array((4,), jnp.uint32))
        return train_step, arguments, (0, 1, 2)
    return make
