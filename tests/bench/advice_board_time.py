"""Over time: an LSTM of words with tied embeddings and locked dropout, and HuBERT's training on waves.

Both are plain functions over dictionaries. Each maker takes its Arrays and Change, and gives
(step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_board_changes import (BF16, F32, cast, checkpointed, computing, laid_out, like, matrices_only, raw_key,
                                   specs, summed_slopes, updated)


# --- Words ---

def lstm_cell(p, x, state):
    c, h = state
    gates = jnp.concatenate([x, h], -1) @ p["kernel"] + p["bias"]
    i, g, f, o = jnp.split(gates, 4, -1)
    c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return c, jax.nn.sigmoid(o) * jnp.tanh(c)


def locked_masks(key, count, rows, width, rate, dtype):
    kept = jax.random.bernoulli(key, 1 - rate, (count, rows, width))
    return kept.astype(dtype) / (1 - rate)


def tied_lstm(layers, width, vocab, batch, length, rate=0.4, kind=F32):
    """Truncated backpropagation: the state of the last words is where the next start. Adagrad, as for lm1b."""
    def make(arrays, change):
        import optax
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        now = computing(change, kind)
        params = cast(specs({"embed": (vocab, width), "out_bias": (vocab,), "lstm": [
            {"kernel": (2 * width, 4 * width), "bias": (4 * width,)} for _ in range(layers)]}), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adagrad(0.2, 1.0))

        def unrolled(p, carry, x, masks):
            def step(carry, x):
                made = []
                for w, state, mask in zip(p["lstm"], carry, masks):
                    made.append(lstm_cell(w, x * mask, state))
                    x = made[-1][1]
                return made, x
            return jax.lax.scan(checkpointed(change, step), carry, x)

        def loss_of(params, key, carry, words):
            p = cast(params, now)
            inputs, targets = words[:, :-1], words[:, 1:]
            masks = locked_masks(key, layers + 1, words.shape[0], width, rate, now)
            start = [tuple(one.astype(now) for one in state) for state in carry]
            last, y = unrolled(p, start, p["embed"][inputs.T], masks)
            logits = (y * masks[-1]) @ p["embed"].T + p["out_bias"]
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), targets.T)
            return losses.mean(), last

        def train_step(params, opt_state, carry, words, key):
            loss, last, grads = summed_slopes(loss_of, change.parts)(params, key, carry, words)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            last = jax.tree.map(lambda a: a.reshape(-1, width), last)
            return params, opt_state, like(last, carry), loss
        held = arrays.batch((rows, width), F32)
        arguments = (laid_out(arrays, params), laid_out(arrays, jax.eval_shape(optimizer.init, params)),
                     [(held, held)] * layers, arrays.batch((rows, time + 1), jnp.int32), raw_key(arrays))
        return train_step, arguments, (0, 1, 2)
    return make


# --- Waves ---

CONVOLUTIONS = (10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)


def frames_of(samples):
    for size, stride in CONVOLUTIONS:
        samples = (samples - size) // stride + 1
    return samples


def layer_norm(p, x):
    wide = x.astype(F32)
    y = (wide - wide.mean(-1, keepdims=True)) * jax.lax.rsqrt(wide.var(-1, keepdims=True) + 1e-5)
    return y.astype(x.dtype) * p["scale"] + p["bias"]


def over_time(x, kernel, stride=1, padding="VALID", groups=1):
    return jax.lax.conv_general_dilated(x, kernel, (stride,), padding, dimension_numbers=("NWC", "WIO", "NWC"),
                                        feature_group_count=groups)


def hubert_shapes(layers, width, hidden, channels, codes, dim, groups):
    def affine(size, *lead):
        return {"scale": (*lead, size), "bias": (*lead, size)}

    def dense(reads, gives, *lead):
        return {"kernel": (*lead, reads, gives), "bias": (*lead, gives)}
    convs = [{"kernel": (size, channels if i else 1, channels)} for i, (size, _) in enumerate(CONVOLUTIONS)]
    stack = {name: dense(width, width, layers) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}
    stack |= {"fc1": dense(width, hidden, layers), "fc2": dense(hidden, width, layers),
              "self_attn_layer_norm": affine(width, layers), "final_layer_norm": affine(width, layers)}
    return specs({"feature_extractor": convs, "group_norm": affine(channels), "layer_norm": affine(channels),
                  "post_extract_proj": dense(channels, width), "mask_emb": (width,),
                  "pos_conv": {"v": (128, width // groups, width), "g": (128, 1, 1), "bias": (width,)},
                  "encoder_norm": affine(width), "layers": stack, "final_proj": dense(width, dim),
                  "label_embs": (codes, dim)})


def linear(p, x):
    return jnp.einsum("...i,io->...o", x, p["kernel"]) + p["bias"]


def heard(change, p, waves):
    """What the convolutions make of waves; the first has a norm of each channel over time."""
    def conv(kernel, norm, x, stride):
        x = over_time(x, kernel, stride)
        if norm is not None:
            wide = x.astype(F32)
            wide = (wide - wide.mean(1, keepdims=True)) * jax.lax.rsqrt(wide.var(1, keepdims=True) + 1e-5)
            x = wide.astype(x.dtype) * norm["scale"] + norm["bias"]
        return jax.nn.gelu(x, approximate=False)
    x = waves[..., None]
    for i, (w, (_, stride)) in enumerate(zip(p["feature_extractor"], CONVOLUTIONS)):
        block = checkpointed(change, lambda kernel, norm, x, stride=stride: conv(kernel, norm, x, stride))
        x = block(w["kernel"], None if i else p["group_norm"], x)
    return x


def encoder_layer(p, x, heads):
    b, t, width = x.shape
    q, k, v = (linear(p[name], x).reshape(b, t, heads, -1) for name in ("q_proj", "k_proj", "v_proj"))
    scores = jnp.einsum("bthd,bshd->bhts", q, k).astype(F32) * (width // heads) ** -0.5
    mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, -1).astype(x.dtype), v)
    x = layer_norm(p["self_attn_layer_norm"], x + linear(p["out_proj"], mixed.reshape(b, t, width)))
    h = jax.nn.gelu(linear(p["fc1"], x), approximate=False)
    return layer_norm(p["final_layer_norm"], x + linear(p["fc2"], h))


def unit(x):
    wide = x.astype(F32)
    return wide * jax.lax.rsqrt(jnp.sum(wide * wide, -1, keepdims=True) + 1e-8)


def hubert(layers, width, heads, hidden, channels, codes, dim, samples, batch, groups=16, kind=BF16):
    """Which of the clusters is heard in frames that are hidden; the layers are stacked, in a scan."""
    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, samples // change.length_divisor, computing(change, kind)
        frames = frames_of(time)
        params = cast(hubert_shapes(layers, width, hidden, channels, codes, dim, groups), change.stored)
        rate = optax.join_schedules([optax.linear_schedule(0, 5e-4, 32000), optax.linear_schedule(5e-4, 0, 368000)],
                                    [32000])
        optimizer = optax.chain(optax.clip_by_global_norm(10.0),
                                optax.adamw(rate, 0.9, 0.98, 1e-6, weight_decay=0.01, mask=matrices_only))
        block = checkpointed(change, lambda p, x: encoder_layer(p, x, heads))

        def placed_in_time(p, x):
            v = p["v"].astype(F32)
            kernel = p["g"] * (v * jax.lax.rsqrt(jnp.sum(v * v, (1, 2), keepdims=True))).astype(x.dtype)
            return x + jax.nn.gelu(over_time(x, kernel, padding="SAME", groups=groups) + p["bias"], approximate=False)

        def loss_of(params, _, waves, is_hidden, targets):
            p = cast(params, now)
            features = heard(change, p, waves.astype(now))
            x = linear(p["post_extract_proj"], layer_norm(p["layer_norm"], features))
            x = jnp.where(is_hidden[..., None], p["mask_emb"], x)
            x = layer_norm(p["encoder_norm"], placed_in_time(p["pos_conv"], x))
            x, _ = jax.lax.scan(lambda x, w: (block(w, x), None), x, p["layers"])
            logits = jnp.einsum("btd,cd->btc", unit(linear(p["final_proj"], x)), unit(p["label_embs"])) / 0.1
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
            loss = jnp.sum(losses * is_hidden) / jnp.maximum(is_hidden.sum(), 1)
            return loss + 10 * jnp.mean(jnp.square(features.astype(F32))), ()

        def train_step(params, opt_state, *batch):
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, None, *batch)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, loss
        state = params, jax.eval_shape(optimizer.init, params)
        arguments = (*laid_out(arrays, state, {"layers": 0}), arrays.batch((rows, time), F32),
                     arrays.batch((rows, frames), jnp.bool_), arrays.batch((rows, frames), jnp.int32))
        return train_step, arguments, (0, 1)
    return make
