"""Griffin: two layers of gated linear recurrence for each of local attention, trained in plain jax.

Parameters are dictionaries whose leaves have all groups of three layers in front, and a scan runs over the groups. The
recurrence is an associative scan in float32.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, abstract, compute_dtype, cross_entropy, decayed, maybe_checkpoint,
                                   optax_step)

STACKS = {"groups": 0}


def griffin_shapes(groups, width, inner, heads, side, hidden, vocab):
    blocks = inner // heads

    def mlp():
        return {"norm": (groups, width), "gate": (groups, width, hidden), "up": (groups, width, hidden),
                "down": (groups, hidden, width)}

    def recurrent():
        return {"norm": (groups, width), "linear_x": (groups, width, inner), "linear_y": (groups, width, inner),
                "bias_y": (groups, inner), "conv": (groups, 4, inner), "conv_bias": (groups, inner),
                "a": (groups, inner), "input_gate": (groups, heads, blocks, blocks),
                "input_bias": (groups, inner), "a_gate": (groups, heads, blocks, blocks),
                "a_bias": (groups, inner), "out": (groups, inner, width), "mlp": mlp()}

    def attention():
        return {"norm": (groups, width), "q": (groups, width, heads * side), "k": (groups, width, side),
                "v": (groups, width, side), "out": (groups, heads * side, width), "mlp": mlp()}
    layers = {"first": recurrent(), "second": recurrent(), "third": attention()}
    return abstract({"embedder": (vocab, width), "groups": layers, "final_norm": (width,)})


def rms(x, scale):
    y = x.astype(F32)
    y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)
    return (y * (1 + scale.astype(F32))).astype(x.dtype)


def dense(x, weight):
    return x @ weight.astype(x.dtype)


def by_heads(x, weight, bias):
    """A product with a matrix of blocks along its diagonal."""
    split = x.reshape(*x.shape[:-1], weight.shape[0], -1)
    return jnp.einsum("bthi,hij->bthj", split, weight.astype(x.dtype)).reshape(x.shape) + bias.astype(x.dtype)


def causal_conv(x, weight, bias):
    taken, weight = weight.shape[0], weight.astype(x.dtype)
    padded = jnp.pad(x, ((0, 0), (taken - 1, 0), (0, 0)))
    return sum(padded[:, i:i + x.shape[1]] * weight[i] for i in range(taken)) + bias.astype(x.dtype)


def linear_recurrence(p, x):
    """RG-LRU: h[t] = a[t] h[t - 1] + sqrt(1 - a[t]^2) i[t] x[t]"""
    gate_x = jax.nn.sigmoid(by_heads(x, p["input_gate"], p["input_bias"]).astype(F32))
    gate_a = jax.nn.sigmoid(by_heads(x, p["a_gate"], p["a_bias"]).astype(F32))
    log_a = -8.0 * gate_a * jax.nn.softplus(p["a"].astype(F32))
    a = jnp.exp(log_a)
    given = gate_x * x.astype(F32) * jnp.sqrt(-jnp.expm1(2 * log_a) + 1e-6)

    def combined(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]
    return jax.lax.associative_scan(combined, (a, given), axis=1)[1].astype(x.dtype)


def rotated(x, base=10000.0):
    side = x.shape[-1]
    angles = jnp.arange(x.shape[1])[:, None, None] * base ** (-jnp.arange(0, side, 2) / side)
    first, second = jnp.split(x.astype(F32), 2, -1)
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1).astype(x.dtype)


def local_attention(p, x, heads, window):
    """Of one head of keys and values; each block of queries sees its own block and the one before."""
    b, t, _ = x.shape
    window = min(window, t)
    q = rotated(dense(x, p["q"]).reshape(b, t, heads, -1)).reshape(b, t // window, window, heads, -1)
    k, v = rotated(dense(x, p["k"])[:, :, None])[:, :, 0], dense(x, p["v"])

    def with_previous(y):
        y = y.reshape(b, t // window, window, -1)
        before = jnp.pad(y, ((0, 0), (1, 0), (0, 0), (0, 0)))[:, :-1]
        return jnp.concatenate([before, y], 2)
    scores = jnp.einsum("bnqhd,bnkd->bnhqk", q, with_previous(k)).astype(F32) * q.shape[-1] ** -0.5
    apart = jnp.arange(window)[:, None] + window - jnp.arange(2 * window)
    can_see = (apart >= 0) & (apart < window)
    is_first = (jnp.arange(t // window) == 0)[:, None, None] & (jnp.arange(2 * window) < window)
    scores = jnp.where((can_see & ~is_first)[None, :, None], scores, -1e30)
    out = jnp.einsum("bnhqk,bnkd->bnqhd", jax.nn.softmax(scores, -1).astype(x.dtype), with_previous(v))
    return dense(out.reshape(b, t, -1), p["out"])


def recurrent_block(p, x):
    h = rms(x, p["norm"])
    gate = jax.nn.gelu(dense(h, p["linear_y"]) + p["bias_y"].astype(x.dtype))
    h = causal_conv(dense(h, p["linear_x"]), p["conv"], p["conv_bias"])
    return dense(linear_recurrence(p, h) * gate, p["out"])


def mlp_block(p, x):
    h = rms(x, p["norm"])
    return dense(jax.nn.gelu(dense(h, p["gate"])) * dense(h, p["up"]), p["down"])


def griffin(change, now, heads, window):
    def group_of(group, x):
        for name in ("first", "second"):
            x = x + recurrent_block(group[name], x)
            x = x + mlp_block(group[name]["mlp"], x)
        last = group["third"]
        x = x + local_attention(last, rms(x, last["norm"]), heads, window)
        return x + mlp_block(last["mlp"], x)

    def logits_of(params, ids):
        table = params["embedder"].astype(now)
        x = table[ids] * jnp.asarray(table.shape[-1] ** 0.5, now)

        def body(x, group):
            return maybe_checkpoint(change, group_of)(group, x), None
        x, _ = jax.lax.scan(body, x, params["groups"])
        return 30 * jnp.tanh(rms(x, params["final_norm"]) @ table.T / 30)
    return logits_of


def trained_griffin(groups, width, inner, heads, side, hidden, vocab, batch, length, window=1024, kind=BF16):
    def make(arrays, change):
        import optax
        rows, said = batch // change.batch_divisor, length // change.length_divisor
        logits_of = griffin(change, compute_dtype(change, kind), heads, window)

        def loss_of(params, ids, labels):
            return cross_entropy(logits_of(params, ids), labels, labels > 0)
        words = arrays.batch((rows, said), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4, weight_decay=1.0, mask=decayed))
        shapes = griffin_shapes(groups, width, inner, heads, side, hidden, vocab)
        return optax_step(arrays, change, shapes, loss_of, optimizer, words, words, stacks=STACKS)
    return make
