"""Kinds of models that other lists have few of: loops over time, pictures, adapters. advice_kinds.py has the others.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, computed, matrices_only, next_word_loss, placed, trained,
                                   trained_with_statistics, warmed_up, word_loss)
from advice_fresh import maybe_checkpointed, shaped
from advice_kinds import layernorm
from advice_structures import F32


# --- Loops over time ---

def stacked_cells(width, vocab, depth):
    """LSTM cells of equinox, each as wide as what it reads."""
    import equinox as eqx

    class Language(eqx.Module):
        embedding: eqx.nn.Embedding
        cells: list
        readout: eqx.nn.Linear

        def __init__(self, key):
            first, *keys, last = jax.random.split(key, depth + 2)
            self.embedding = eqx.nn.Embedding(vocab, width, key=first)
            self.cells = [eqx.nn.LSTMCell(width, width, key=one) for one in keys]
            self.readout = eqx.nn.Linear(width, vocab, use_bias=False, key=last)
    return Language


def cells_over_time(width, vocab, depth, batch, length, kind=F32):
    """Cells of all layers within one scan over time, time first, the state a list of pairs; by RMSProp."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        whole = eqx.filter_eval_shape(stacked_cells(width, vocab, depth), jax.random.key(0))
        shapes, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        now = computed(change, kind)

        def loss_of(params, text):
            model = eqx.combine(as_kind(params, now), static)

            def tick(states, x):
                made = []
                for cell, state in zip(model.cells, states):
                    state = jax.vmap(cell)(x, state)
                    x = state[0]
                    made.append(state)
                return made, x
            xs = jax.vmap(jax.vmap(model.embedding))(text.T)
            zeros = jnp.zeros((text.shape[0], width), now)
            _, outs = jax.lax.scan(maybe_checkpointed(change, tick), [(zeros, zeros)] * depth, xs)
            logits = jax.vmap(jax.vmap(model.readout))(outs)
            return next_word_loss(logits.swapaxes(0, 1), text)
        text = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.rmsprop(2e-3, momentum=0.9))
        return trained(arrays, change, shapes, loss_of, optimizer, text)
    return make


def shifted(x):
    return jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]


def wkv(decay, bonus, k, v):
    """RWKV's weighted sum over time, [batch, time, width]: a scan that carries numerator, denominator and maximum."""
    def tick(state, kv):
        num, den, top = state
        kt, vt = kv
        high = jnp.maximum(top, bonus + kt)
        old, new = jnp.exp(top - high), jnp.exp(bonus + kt - high)
        out = (old * num + new * vt) / (old * den + new)
        high = jnp.maximum(top - decay, kt)
        old, new = jnp.exp(top - decay - high), jnp.exp(kt - high)
        return (old * num + new * vt, old * den + new, high), out
    zeros = jnp.zeros(k.shape[::2], F32)
    times_first = k.astype(F32).swapaxes(0, 1), v.astype(F32).swapaxes(0, 1)
    _, out = jax.lax.scan(tick, (zeros, zeros, zeros - 1e38), times_first)
    return out.swapaxes(0, 1).astype(v.dtype)


def rwkv_block(p, x):
    h = layernorm(x, p["ln1"][0], p["ln1"][1])
    last = shifted(h)
    k, v, r = ((h * mix + last * (1 - mix)) @ p[name] for name, mix in zip(("k", "v", "r"), p["time_mix"]))
    mixed = wkv(jnp.exp(p["time_decay"].astype(F32)), p["time_first"].astype(F32), k, v)
    x = x + (jax.nn.sigmoid(r) * mixed) @ p["o"]
    h = layernorm(x, p["ln2"][0], p["ln2"][1])
    last = shifted(h)
    key_in, gate_in = (h * mix + last * (1 - mix) for mix in p["channel_mix"])
    key = jnp.square(jax.nn.relu(key_in @ p["ffn_key"]))
    return x + jax.nn.sigmoid(gate_in @ p["ffn_receptance"]) * (key @ p["ffn_value"])


def receptance(layers, width, vocab, batch, length, kind=F32):
    """RWKV 4 with all its matrices of one width; adam as optax has it, in plain functions."""
    def make(arrays, change):
        import optax
        square = {name: (width, width) for name in ("k", "v", "r", "o", "ffn_key", "ffn_receptance", "ffn_value")}
        rest = {"time_mix": (3, width), "channel_mix": (2, width), "time_decay": (width,), "time_first": (width,),
                "ln1": (2, width), "ln2": (2, width)}
        shapes = {"emb": jax.ShapeDtypeStruct((vocab, width), F32),
                  "blocks": [shaped(**square, **rest) for _ in range(layers)],
                  "ln_out": jax.ShapeDtypeStruct((2, width), F32), "head": jax.ShapeDtypeStruct((width, vocab), F32)}

        def loss_of(params, idx):
            p = as_kind(params, computed(change, kind))
            x = p["emb"][idx]
            for block in p["blocks"]:
                x = maybe_checkpointed(change, rwkv_block)(block, x)
            return next_word_loss(layernorm(x, p["ln_out"][0], p["ln_out"][1]) @ p["head"], idx)
        idx = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optax.adam(6e-4, b1=0.9, b2=0.99), idx)
    return make


# --- Pictures ---

def basic_residuals(change, counts, filters, classes, kind):
    """A residual network of linen, two convolutions a block, each with its batch norm."""
    from flax import linen as nn
    kinds = {"dtype": computed(change, kind)}
    norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.9, epsilon=1e-5, **kinds)
    conv = functools.partial(nn.Conv, use_bias=False, **kinds)

    class BasicBlock(nn.Module):
        filters: int
        strides: int

        @nn.compact
        def __call__(self, x):
            y = conv(self.filters, (3, 3), self.strides, name="conv1")(x)
            y = nn.relu(norm(name="bn1")(y))
            y = conv(self.filters, (3, 3), name="conv2")(y)
            y = norm(name="bn2", scale_init=nn.initializers.zeros)(y)
            if x.shape != y.shape:
                x = conv(self.filters, (1, 1), self.strides, name="downsample_conv")(x)
                x = norm(name="downsample_bn")(x)
            return nn.relu(x + y)

    class ResNet(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = conv(filters, (7, 7), 2, name="conv_stem")(x.astype(kinds["dtype"]))
            x = nn.max_pool(nn.relu(norm(name="bn_stem")(x)), (3, 3), (2, 2), "SAME")
            block = nn.remat(BasicBlock) if change.rematerialize else BasicBlock
            for i, count in enumerate(counts):
                for j in range(count):
                    x = block(filters * 2 ** i, 2 if i and j == 0 else 1, name=f"layer{i}_{j}")(x)
            return nn.Dense(classes, name="fc", **kinds)(x.mean((1, 2)))
    return ResNet()


def smoothed_pictures(counts, filters, side, batch, classes=1000, kind=F32):
    """Labels smoothed, by SGD with Nesterov's momentum; images in bytes, which the step makes floats."""
    def make(arrays, change):
        import optax
        model, size = basic_residuals(change, counts, filters, classes, kind), batch // change.batch_divisor
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, side, side, 3)))

        def loss_of(params, batch_stats, images, labels):
            images = (images.astype(F32) / 255 - 0.45) / 0.225
            logits, new = model.apply({"params": params, "batch_stats": batch_stats}, images, mutable=["batch_stats"])
            targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            return optax.softmax_cross_entropy(logits.astype(F32), targets).mean(), new["batch_stats"]
        optimizer = optax.chain(optax.add_decayed_weights(5e-5, matrices_only),
                                optax.sgd(warmed_up(0.8), momentum=0.9, nesterov=True))
        images, labels = arrays.batch((size, side, side, 3), jnp.uint8), arrays.batch((size,), jnp.int32)
        return trained_with_statistics(arrays, change, shapes["params"], shapes["batch_stats"], loss_of, optimizer,
                                       images, labels)
    return make


def next_convolutions(change, depths, dims, classes):
    """ConvNeXt of haiku, in functions."""
    import haiku as hk

    def norm(x):
        return hk.LayerNorm(-1, create_scale=True, create_offset=True, eps=1e-6)(x)

    def block(x):
        width = x.shape[-1]
        y = norm(hk.DepthwiseConv2D(1, 7)(x))
        y = hk.Linear(width)(jax.nn.gelu(hk.Linear(4 * width)(y)))
        gamma = hk.get_parameter("layer_scale", (width,), x.dtype, init=hk.initializers.Constant(1e-6))
        return x + gamma * y

    def forward(images):
        x = norm(hk.Conv2D(dims[0], 4, 4, padding="VALID")(images))
        for i, (depth, dim) in enumerate(zip(depths, dims)):
            if i:
                x = hk.Conv2D(dim, 2, 2, padding="VALID")(norm(x))
            for j in range(depth):
                one = hk.to_module(block)(f"stage{i}_block{j}")
                x = (hk.remat(one) if change.rematerialize else one)(x)
        return hk.Linear(classes)(norm(x.mean((1, 2))))
    return hk.without_apply_rng(hk.transform(forward))


def averaged_pictures(depths, dims, side, batch, classes=1000, kind=F32):
    """With an average of the parameters over steps kept beside them, as many train it."""
    def make(arrays, change):
        import optax
        net, size = next_convolutions(change, depths, dims, classes), batch // change.batch_divisor
        shapes = as_kind(jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, side, side, 3))), change.stored)
        optimizer = optax.adamw(warmed_up(4e-3), weight_decay=0.05, mask=matrices_only)
        state = {"params": shapes, "ema": shapes, "opt": jax.eval_shape(optimizer.init, shapes)}

        def loss_fn(params, images, labels):
            now = computed(change, kind)
            return word_loss(net.apply(as_kind(params, now), images.astype(now)), labels)

        def update(state, images, labels):
            loss, grads = jax.value_and_grad(loss_fn)(state["params"], images, labels)
            updates, opt = optimizer.update(grads, state["opt"], state["params"])
            params = optax.apply_updates(state["params"], updates)
            ema = optax.incremental_update(params, state["ema"], 1e-3)
            ema = jax.tree.map(lambda new, old: new.astype(old.dtype), ema, state["ema"])
            return {"params": params, "ema": ema, "opt": opt}, loss
        images, labels = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)
        return update, (placed(arrays, state), images, labels), (0,)
    return make


# --- Adapters ---

def adapted_encoder(change, layers, width, heads, hidden, vocab, length, small, classes, kind):
    """BERT in linen with two adapters a layer, narrow pairs of matrices with a skip around them."""
    from flax import linen as nn
    kinds = {"dtype": computed(change, kind)}

    class Adapter(nn.Module):
        @nn.compact
        def __call__(self, x):
            return x + nn.Dense(width, name="up", **kinds)(nn.gelu(nn.Dense(small, name="down", **kinds)(x)))

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            y = nn.MultiHeadDotProductAttention(heads, name="self_attention", **kinds)(x, mask=mask)
            x = nn.LayerNorm(**kinds)(x + Adapter(name="adapter_attention")(y))
            y = nn.Dense(width, name="output", **kinds)(nn.gelu(nn.Dense(hidden, name="intermediate", **kinds)(x)))
            return nn.LayerNorm(**kinds)(x + Adapter(name="adapter_output")(y))

    class Classifier(nn.Module):
        @nn.compact
        def __call__(self, ids, mask):
            x = nn.Embed(vocab, width, name="words", **kinds)(ids)
            x = x + nn.Embed(length, width, name="positions", **kinds)(jnp.arange(ids.shape[1]))
            x, mask = nn.LayerNorm(**kinds)(x), nn.make_attention_mask(mask, mask)
            layer = nn.remat(Layer) if change.rematerialize else Layer
            for i in range(layers):
                x = layer(name=f"layer_{i}")(x, mask)
            return nn.Dense(classes, name="adapter_head", **kinds)(jnp.tanh(x[:, 0]))
    return Classifier()


def narrow_adapters(layers, width, heads, hidden, vocab, length, small, batch, classes=3, kind=F32):
    """What has "adapter" in its path is trained; all else is frozen, in the type that parameters are stored in."""
    def make(arrays, change):
        import optax
        from flax.traverse_util import flatten_dict, unflatten_dict
        model = adapted_encoder(change, layers, width, heads, hidden, vocab, length, small, classes, kind)
        rows = jnp.zeros((1, length), jnp.int32)
        whole = flatten_dict(jax.eval_shape(model.init, jax.random.key(0), rows, rows)["params"], sep="/")
        trainable = {path: leaf for path, leaf in whole.items() if "adapter" in path}
        frozen = {path: leaf for path, leaf in whole.items() if "adapter" not in path}

        def loss_of(trainable, frozen, ids, mask, labels):
            params = unflatten_dict({**frozen, **trainable}, sep="/")
            return word_loss(model.apply({"params": params}, ids, mask), labels)
        size = batch // change.batch_divisor
        ids = arrays.batch((size, length), jnp.int32)
        return trained(arrays, change, trainable, loss_of, optax.adamw(warmed_up(1e-3), mask=matrices_only),
                       placed(arrays, as_kind(frozen, change.stored)), ids, ids, arrays.batch((size,), jnp.int32))
    return make
