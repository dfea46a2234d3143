"""Loops over time, pictures and adapters in usual sizes; advice_typical.py has the language models.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, trained,
                                   trained_with_statistics, warmed_up, word_loss)
from advice_typical import masked_attention, merge_heads, rms, rotated, sinusoids, split_heads, standardized
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Loops over time ---

def translator(change, vocab, embed, units, kind):
    """Luong's: GRUs in both directions read, one GRU writes and looks back at all that was read."""
    from flax import linen as nn
    options = {"dtype": computed(change, kind), "param_dtype": computed(change, kind)}
    cell = nn.remat(nn.GRUCell) if change.rematerialize else nn.GRUCell

    class Translator(nn.Module):
        @nn.compact
        def __call__(self, source, target):
            words = nn.Embed(vocab, embed, name="source_embed", **options)(source)
            ahead, back = nn.RNN(cell(units, **options)), nn.RNN(cell(units, **options))
            read = nn.Bidirectional(ahead, back, name="encoder")(words)
            words = nn.Embed(vocab, embed, name="target_embed", **options)(target)
            start = nn.tanh(nn.Dense(units, name="bridge", **options)(read[:, 0]))
            x = nn.RNN(cell(units, **options), name="decoder")(words, initial_carry=start)
            scores = jnp.einsum("btd,bsd->bts", nn.Dense(2 * units, name="attention", **options)(x), read)
            seen = jnp.einsum("bts,bsd->btd", nn.softmax(scores), read)
            x = nn.tanh(nn.Dense(units, name="combine", **options)(jnp.concatenate([x, seen], -1)))
            return nn.Dense(vocab, name="generator", **options)(x)
    return Translator()


def looked_back(vocab, embed, units, batch, source, target, kind=F32):
    """By plain Adam, its gradients clipped."""
    def make(arrays, change):
        import optax
        model, size = translator(change, vocab, embed, units, kind), batch // change.batch_divisor
        row = jnp.zeros((1, 8), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), row, row)["params"]

        def loss_of(params, source, target):
            logits = model.apply({"params": as_kind(params, computed(change, kind))}, source, target[:, :-1])
            return word_loss(logits, target[:, 1:], (target[:, 1:] > 0).astype(F32))
        texts = [arrays.batch((size, length // change.length_divisor + more), jnp.int32)
                 for length, more in ((source, 0), (target, 1))]
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(1e-3))
        return trained(arrays, change, shapes, loss_of, optimizer, *texts)
    return make


def gated_scan(a, x):
    """h[t] = a[t] h[t - 1] + x[t], over the second dimension, in a tree of sums."""
    def join(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]
    return jax.lax.associative_scan(join, (a, x), axis=1)[1]


def hawk(change, depth, width, inner, expanded, vocab, kind):
    """Griffin's recurrent blocks in haiku: a gated linear recurrence behind a short convolution over time."""
    import haiku as hk

    def linear(x, size, name):
        return hk.Linear(size, with_bias=False, name=name)(x)

    def norm(x):
        return hk.RMSNorm(-1)(x)

    def recurrence(x):
        power = hk.get_parameter("a_power", (inner,), F32, init=hk.initializers.Constant(0.5)).astype(F32)
        input_gate = jax.nn.sigmoid(linear(x, inner, "input_gate"))
        decay = jax.nn.sigmoid(linear(x, inner, "recurrence_gate").astype(F32))
        log_a = -8.0 * decay * jax.nn.softplus(power)
        gated = (input_gate * x).astype(F32) * jnp.sqrt(1 - jnp.exp(2 * log_a) + 1e-6)
        return gated_scan(jnp.exp(log_a), gated).astype(x.dtype)

    def block(x):
        h = norm(x)
        gate = jax.nn.gelu(linear(h, inner, "gate"))
        taps = hk.get_parameter("taps", (4, inner), x.dtype, init=jnp.zeros)
        h = jnp.pad(linear(h, inner, "branch"), ((0, 0), (3, 0), (0, 0)))
        h = sum(h[:, i:i + x.shape[1]] * taps[i] for i in range(4))
        x = x + linear(gate * recurrence(h), width, "merge")
        h = norm(x)
        return x + linear(jax.nn.gelu(linear(h, expanded, "ffw_gate")) * linear(h, expanded, "ffw_up"), width,
                          "ffw_down")

    def forward(ids):
        embed = hk.Embed(vocab, width, name="embedder")
        x = embed(ids)
        for i in range(depth):
            one = hk.to_module(block)(f"block_{i}")
            x = (hk.remat(one) if change.rematerialize else one)(x)
        return norm(x) @ embed.embeddings.T
    return hk.without_apply_rng(hk.transform(forward))


def hawk_texts(depth, width, inner, expanded, vocab, batch, length, kind=F32):
    """By AdamW."""
    def make(arrays, change):
        net = hawk(change, depth, width, inner, expanded, vocab, kind)
        shapes = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, 16), jnp.int32))

        def loss_of(params, ids):
            return next_word_loss(net.apply(as_kind(params, computed(change, kind)), ids), ids)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(4e-4), ids)
    return make


# --- Pictures ---

def inverted_bottlenecks(change, stages, stem, head, classes, kind):
    """EfficientNet of linen; stages of (blocks, channels, expansion, kernel, stride)."""
    from flax import linen as nn
    options = {"dtype": computed(change, kind)}
    conv = functools.partial(nn.Conv, use_bias=False, **options)
    norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.99, epsilon=1e-3, **options)

    class MBConv(nn.Module):
        channels: int
        expansion: int
        kernel: int
        stride: int

        @nn.compact
        def __call__(self, x):
            y, wide = x, self.expansion * x.shape[-1]
            if self.expansion > 1:
                y = nn.silu(norm(name="expand_bn")(conv(wide, (1, 1), name="expand_conv")(y)))
            y = conv(wide, (self.kernel, self.kernel), self.stride, feature_group_count=wide, name="dwconv")(y)
            y = nn.silu(norm(name="dw_bn")(y))
            se = nn.silu(nn.Conv(max(1, x.shape[-1] // 4), (1, 1), name="se_conv_in", **options)(
                y.mean((1, 2), keepdims=True)))
            y = y * nn.sigmoid(nn.Conv(wide, (1, 1), name="se_conv_out", **options)(se))
            y = norm(name="project_bn")(conv(self.channels, (1, 1), name="project_conv")(y))
            return x + y if x.shape == y.shape else y

    class EfficientNet(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.silu(norm(name="stem_bn")(conv(stem, (3, 3), 2, name="stem_conv")(x.astype(options["dtype"]))))
            block = nn.remat(MBConv) if change.rematerialize else MBConv
            for i, (count, channels, expansion, kernel, stride) in enumerate(stages):
                for j in range(count):
                    x = block(channels, expansion, kernel, 1 if j else stride, name=f"stage{i}_block{j}")(x)
            x = nn.silu(norm(name="head_bn")(conv(head, (1, 1), name="head_conv")(x)))
            return nn.Dense(classes, name="classifier", **options)(x.mean((1, 2)))
    return EfficientNet()


def efficient_pictures(stages, stem, head, side, batch, classes=1000, kind=F32):
    """By RMSProp with momentum, as these were published with."""
    def make(arrays, change):
        import optax
        model, size = inverted_bottlenecks(change, stages, stem, head, classes, kind), batch // change.batch_divisor
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, side, side, 3)))

        def loss_of(params, batch_stats, images, labels):
            logits, new = model.apply({"params": params, "batch_stats": batch_stats}, images, mutable=["batch_stats"])
            return word_loss(logits, labels), new["batch_stats"]
        optimizer = optax.chain(optax.add_decayed_weights(1e-5, matrices_only),
                                optax.rmsprop(warmed_up(0.016), decay=0.9, eps=1e-3, momentum=0.9))
        images, labels = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)
        return trained_with_statistics(arrays, change, shapes["params"], shapes["batch_stats"], loss_of, optimizer,
                                       images, labels)
    return make


def convolved(x, kernel, stride=1):
    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def group_normed(x, p, groups=8):
    y = x.astype(F32).reshape(*x.shape[:3], groups, -1)
    mean, var = y.mean((1, 2, 4), keepdims=True), y.var((1, 2, 4), keepdims=True)
    y = ((y - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape).astype(x.dtype)
    return y * p["scale"] + p["offset"]


def double_conv(p, x):
    """Two convolutions with a skip; of another number of channels where there is a third."""
    y = jax.nn.relu(group_normed(convolved(x, p["conv_a"]), p["norm_a"]))
    y = group_normed(convolved(y, p["conv_b"]), p["norm_b"])
    return jax.nn.relu(y + (convolved(x, p["conv_skip"]) if "conv_skip" in p else x))


def double_shapes(cin, cout):
    norm = {"scale": (cout,), "offset": (cout,)}
    made = {"conv_a": (3, 3, cin, cout), "norm_a": norm, "conv_b": (3, 3, cout, cout), "norm_b": norm}
    return made if cin == cout else made | {"conv_skip": (1, 1, cin, cout)}


def segmented_shapes(counts, widths, classes):
    shapes = {"stem": {"conv": (3, 3, 3, widths[0])}, "final": {"conv": (1, 1, widths[0], classes)}}
    for i, (count, width) in enumerate(zip(counts, widths)):
        before = widths[max(0, i - 1)]
        shapes |= {f"down{i}_{j}": double_shapes(width if j else before, width) for j in range(count)}
    for i in reversed(range(len(widths) - 1)):
        shapes |= {f"merge{i}": {"conv": (1, 1, widths[i + 1], widths[i])},
                   f"up{i}": double_shapes(2 * widths[i], widths[i])}
    return shapes


def segmented(p, x, counts, block):
    x, skips = convolved(x, p["stem"]["conv"]), []
    for i, count in enumerate(counts):
        if i:
            skips.append(x)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        for j in range(count):
            x = block(p[f"down{i}_{j}"], x)
    for i in reversed(range(len(counts) - 1)):
        size, high, wide, _ = skips[i].shape
        x = jax.image.resize(convolved(x, p[f"merge{i}"]["conv"]), (size, high, wide, skips[i].shape[-1]), "nearest")
        x = block(p[f"up{i}"], jnp.concatenate([x, skips[i]], axis=-1))
    return convolved(x, p["final"]["conv"])


def segmented_pictures(counts, widths, side, batch, classes=21, kind=BF16):
    """A U-Net with more blocks at some depths than at others, for every pixel's class; Dice and cross entropy."""
    def make(arrays, change):
        import optax
        size = batch // change.batch_divisor
        shapes = shaped(**segmented_shapes(counts, widths, classes))

        def loss_of(params, images, labels):
            now = computed(change, kind)
            logits = segmented(as_kind(params, now), images.astype(now), counts,
                               maybe_checkpointed(change, double_conv)).astype(F32)
            wanted, found = jax.nn.one_hot(labels, classes), jax.nn.softmax(logits)
            dice = 1 - 2 * (wanted * found).sum((1, 2)) / (wanted.sum((1, 2)) + found.sum((1, 2)) + 1.0)
            return word_loss(logits, labels) + dice.mean()
        images, labels = arrays.batch((size, side, side, 3), F32), arrays.batch((size, side, side), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adamw(warmed_up(1e-3), mask=matrices_only),
                                images, labels)
    return make


# --- Adapters ---

def prefixed_attention(q, k, v, prefix):
    """Keys and values that are learnt stand before those of the text, for all to see."""
    size, _, length, side = q.shape
    before = jnp.broadcast_to(prefix[:, None], (2, size, *prefix.shape[1:])).astype(q.dtype)
    k, v = (jnp.concatenate([learnt, own], axis=2) for learnt, own in zip(before, (k, v)))
    seen = jnp.arange(k.shape[2]) <= jnp.arange(length)[:, None] + prefix.shape[2]
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(F32) / side ** 0.5
    weights = jax.nn.softmax(jnp.where(seen, scores, jnp.finfo(F32).min)).astype(v.dtype)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def prefixed_layer(x, both, n_head):
    w, prefix = both
    q, k, v = jnp.split(standardized(x, w["ln_1"]) @ w["attn_w"] + w["attn_b"], 3, axis=-1)
    y = prefixed_attention(split_heads(q, n_head), split_heads(k, n_head), split_heads(v, n_head), prefix)
    x = x + merge_heads(y) @ w["attn_proj"]
    return x + jax.nn.gelu(standardized(x, w["ln_2"]) @ w["fc_w"] + w["fc_b"]) @ w["fc_proj"], None


def prefixed_shapes(n_layer, n_embd):
    norm = {"scale": (n_layer, n_embd), "bias": (n_layer, n_embd)}
    return {"ln_1": norm, "ln_2": norm, "attn_w": (n_layer, n_embd, 3 * n_embd), "attn_b": (n_layer, 3 * n_embd),
            "attn_proj": (n_layer, n_embd, n_embd), "fc_w": (n_layer, n_embd, 4 * n_embd),
            "fc_b": (n_layer, 4 * n_embd), "fc_proj": (n_layer, 4 * n_embd, n_embd)}


def learnt_prefixes(n_layer, n_embd, n_head, vocab, places, middle, batch, length, kind=F32):
    """Prefix tuning of a frozen GPT-2 in a scan; a small network makes the prefixes of all layers."""
    def make(arrays, change):
        import optax
        seq = length // change.length_divisor
        frozen = as_kind(shaped(wte=(vocab, n_embd), wpe=(length, n_embd), scanned=prefixed_shapes(n_layer, n_embd),
                                ln_f={"scale": (n_embd,), "bias": (n_embd,)}), change.stored)
        tuned = shaped(embedding=(places, n_embd), w1=(n_embd, middle), w2=(middle, n_layer * 2 * n_embd))
        layer = maybe_checkpointed(change, functools.partial(prefixed_layer, n_head=n_head))

        def loss_of(tuned, frozen, ids):
            now = computed(change, kind)
            t, w = as_kind(tuned, now), as_kind(frozen, now)
            prefixes = (jnp.tanh(t["embedding"] @ t["w1"]) @ t["w2"]).reshape(places, n_layer, 2, n_head, -1)
            prefixes = prefixes.transpose(1, 2, 3, 0, 4)
            x, _ = jax.lax.scan(layer, w["wte"][ids] + w["wpe"][:seq], (w["scanned"], prefixes))
            return next_word_loss(standardized(x, w["ln_f"]) @ w["wte"].T, ids)
        ids = arrays.batch((batch // change.batch_divisor, seq), jnp.int32)
        return trained(arrays, change, tuned, loss_of, optax.adamw(5e-5, weight_decay=0.0), placed(arrays, frozen), ids)
    return make


def with_lora(p, adapter, name, x):
    out = x @ p[name]
    return out + 2.0 * ((x @ adapter[f"{name}_a"]) @ adapter[f"{name}_b"]) if f"{name}_a" in adapter else out


def grouped_lora_layer(p, adapter, x, heads, kv_heads):
    """A layer of Llama with fewer keys than queries; every matrix has its two thin ones."""
    proj = functools.partial(with_lora, p, adapter)
    h, table = rms(x, p["norm_1"]), sinusoids(jnp.arange(x.shape[1]), p["q"].shape[1] // heads)
    q = rotated(split_heads(proj("q", h), heads), table)
    k, v = rotated(split_heads(proj("k", h), kv_heads), table), split_heads(proj("v", h), kv_heads)
    k, v = (jnp.repeat(t, heads // kv_heads, axis=1) for t in (k, v))
    x = x + proj("o", merge_heads(masked_attention(q, k, v)))
    h = rms(x, p["norm_2"])
    return x + proj("down", jax.nn.silu(proj("gate", h)) * proj("up", h))


def lora_everywhere(depth, width, heads, kv_heads, hidden, vocab, rank, batch, length, kind=BF16):
    """LoRA at all matrices of layers that are frozen in bf16, whatever the thin ones are stored in."""
    kv = width // heads * kv_heads
    sizes = {"q": (width, width), "k": (width, kv), "v": (width, kv), "o": (width, width), "gate": (width, hidden),
             "up": (width, hidden), "down": (hidden, width)}
    thin = {f"{name}_a": (rows, rank) for name, (rows, _) in sizes.items()}
    thin |= {f"{name}_b": (rank, columns) for name, (_, columns) in sizes.items()}

    def make(arrays, change):
        import optax
        base = as_kind({"embed": jax.ShapeDtypeStruct((vocab, width), F32), "norm": jax.ShapeDtypeStruct((width,), F32),
                        "blocks": [shaped(**sizes, norm_1=(width,), norm_2=(width,)) for _ in range(depth)]}, BF16)
        block = maybe_checkpointed(change, functools.partial(grouped_lora_layer, heads=heads, kv_heads=kv_heads))

        def loss_of(lora, base, ids, weights):
            x = base["embed"][ids[:, :-1]].astype(computed(change, kind))
            for p, adapter in zip(base["blocks"], as_kind(lora, computed(change, kind))):
                x = block(p, adapter, x)
            return word_loss(rms(x, base["norm"]) @ base["embed"].T, ids[:, 1:], weights[:, 1:])
        rows = batch // change.batch_divisor, length // change.length_divisor + 1
        optimizer = optax.chain(optax.clip_by_global_norm(0.3), optax.adamw(warmed_up(2e-4), weight_decay=0.0))
        return trained(arrays, change, [shaped(**thin) for _ in range(depth)], loss_of, optimizer,
                       placed(arrays, base), arrays.batch(rows, jnp.int32), arrays.batch(rows, F32))
    return make
