"""E-Branchformer: characters in words that are said, by connectionist temporal classification, in flax linen.

In each layer one branch attends to all frames (places are relative, as in Transformer-XL) and one gates by a depthwise
convolution; what both say is merged by a convolution too. The layers are lifted by nn.scan.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import BF16, F32, cast, computing, laid_out, policy_of, raw_key, summed_slopes, updated

STACKS = {"encoders": 0}


def sinusoids(length, width):
    """Of distances from length - 1 down to 1 - length."""
    places = jnp.arange(length - 1, -length, -1.0)
    rates = jnp.exp(jnp.arange(0, width, 2) * -(jnp.log(10000.0) / width))
    angles = places[:, None] * rates
    return jnp.stack([jnp.sin(angles), jnp.cos(angles)], -1).reshape(2 * length - 1, width)


def shifted(scores):
    """[b, h, t, 2t - 1] by distance to [b, h, t, t] by place."""
    b, h, t, n = scores.shape
    padded = jnp.pad(scores, ((0, 0), (0, 0), (0, 0), (1, 0)))
    return padded.reshape(b, h, n + 1, t)[:, :, 1:].reshape(b, h, t, n)[..., :t]


def branchformer(change, now, layers, width, heads, forward, gated, kernel, vocab, rate):
    import flax.linen as nn
    side = width // heads

    def norm(name):
        return nn.LayerNorm(epsilon=1e-12, dtype=now, name=name)

    def depthwise(size, name):
        return nn.Conv(size, (kernel,), feature_group_count=size, dtype=now, name=name)

    class Attention(nn.Module):
        @nn.compact
        def __call__(self, x, places, mask):
            def split(name, given, use_bias=True):
                return nn.DenseGeneral((heads, side), use_bias=use_bias, dtype=now, name=name)(given)
            q, k, v = (split(name, x) for name in ("linear_q", "linear_k", "linear_v"))
            p = split("linear_pos", places, False)
            u, w = (self.param(name, nn.initializers.xavier_uniform(), (heads, side), F32).astype(now)
                    for name in ("pos_bias_u", "pos_bias_v"))
            scores = jnp.einsum("bthd,bshd->bhts", q + u, k) + shifted(jnp.einsum("bthd,nhd->bhtn", q + w, p))
            scores = jnp.where(mask, scores.astype(F32) * side ** -0.5, -1e30)
            weights = nn.Dropout(rate, deterministic=False)(jax.nn.softmax(scores, -1).astype(now))
            out = jnp.einsum("bhts,bshd->bthd", weights, v)
            return nn.DenseGeneral(width, axis=(-2, -1), dtype=now, name="linear_out")(out)

    class GatingMLP(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.gelu(nn.Dense(gated, dtype=now, name="channel_proj1")(x))
            kept, gate = jnp.split(x, 2, -1)
            gate = depthwise(gated // 2, "conv")(norm("norm")(gate))
            x = nn.Dropout(rate, deterministic=False)(kept * gate)
            return nn.Dense(width, dtype=now, name="channel_proj2")(x)

    class FeedForward(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.swish(nn.Dense(forward, dtype=now, name="w_1")(x))
            return nn.Dense(width, dtype=now, name="w_2")(nn.Dropout(rate, deterministic=False)(x))

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, places, mask):
            def dropped(y):
                return nn.Dropout(rate, deterministic=False)(y)
            x = x + 0.5 * dropped(FeedForward(name="feed_forward_macaron")(norm("norm_ff_macaron")(x)))
            one = dropped(Attention(name="attn")(norm("norm_mha")(x), places, mask))
            two = dropped(GatingMLP(name="cgmlp")(norm("norm_mlp")(x)))
            both = jnp.concatenate([one, two], -1)
            both = both + depthwise(2 * width, "depthwise_conv_fusion")(both)
            x = x + dropped(nn.Dense(width, dtype=now, name="merge_proj")(both))
            x = x + 0.5 * dropped(FeedForward(name="feed_forward")(norm("norm_ff")(x)))
            return norm("norm_final")(x), None

    class Recognizer(nn.Module):
        @nn.compact
        def __call__(self, frames, lengths):
            x = frames.astype(now)[..., None]
            for name in ("conv1", "conv2"):
                x = nn.relu(nn.Conv(width, (3, 3), (2, 2), dtype=now, name=name)(x))
            x = nn.Dense(width, dtype=now, name="out")(x.reshape(*x.shape[:2], -1)) * width ** 0.5
            x = nn.Dropout(rate, deterministic=False)(x)
            left = (lengths + 3) // 4
            is_padding = jnp.arange(x.shape[1]) >= left[:, None]
            places = sinusoids(x.shape[1], width).astype(now)
            layer = nn.remat(Layer, policy=policy_of(change), prevent_cse=False) if change.rematerialize else Layer
            stack = nn.scan(layer, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True},
                            in_axes=nn.broadcast, length=layers)
            x, _ = stack(name="encoders")(x, places, ~is_padding[:, None, None])
            return nn.Dense(vocab, dtype=now, name="ctc_lo")(norm("after_norm")(x)), is_padding
    return Recognizer()


def spoken_branchformer(layers, width, heads, forward, gated, vocab, batch, frames, said, bins=80, kernel=31, rate=0.1,
                        kind=BF16):
    def make(arrays, change):
        import optax
        rows, heard = batch // change.batch_divisor, frames // change.length_divisor
        spoken, now = said // change.length_divisor, computing(change, kind)
        model = branchformer(change, now, layers, width, heads, forward, gated, kernel, vocab, rate)
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        shapes = jax.eval_shape(model.init, keys, jnp.zeros((1, heard, bins)), jnp.zeros((1,), jnp.int32))["params"]

        def loss_of(params, key, sound, lengths, labels):
            logits, is_padding = model.apply({"params": params}, sound, lengths, rngs={"dropout": key})
            losses = optax.ctc_loss(logits.astype(F32), is_padding.astype(F32), labels, (labels == 0).astype(F32))
            return losses.mean(), ()
        params = cast(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(
            optax.warmup_exponential_decay_schedule(0.0, 2e-3, 40000, 40000, 0.7), weight_decay=1e-6))
        state = jax.eval_shape(optimizer.init, params)

        def train_step(params, state, key, *batch):
            loss, _, slopes = summed_slopes(loss_of, change.parts)(params, key, *batch)
            params, state = updated(optimizer, slopes, state, params)
            return params, state, loss
        batch_given = (arrays.batch((rows, heard, bins), F32), arrays.batch((rows,), jnp.int32),
                       arrays.batch((rows, spoken), jnp.int32))
        arguments = laid_out(arrays, params, STACKS), laid_out(arrays, state, STACKS), raw_key(arrays), *batch_given
        return train_step, arguments, (0, 1)
    return make
