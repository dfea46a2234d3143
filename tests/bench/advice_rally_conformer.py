"""Conformer transducer (large) on LibriSpeech: log-mel frames to word pieces, with an LSTM of labels and a joint net.

Flax linen, float32 weights and bfloat16 activations. Attention has relative positions as in Transformer-XL, the
convolution a batch norm whose running moments are state; the loss runs over the lattice one frame after the other.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, like, policy_of, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype


def sinusoids(length, width):
    """Of the distances length - 1 ... 1 - length."""
    places = jnp.arange(length - 1, -length, -1.0)
    angles = places[:, None] / 10000 ** (jnp.arange(0, width, 2) / width)
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


def shifted(x):
    """[b, h, t, 2t - 1] by distance to [b, h, t, t] by key."""
    b, h, t, n = x.shape
    x = jnp.pad(x, ((0, 0), (0, 0), (0, 0), (1, 0))).reshape(b, h, n + 1, t)
    return x[:, :, 1:].reshape(b, h, t, n)[..., :t]


def transducer_loss(logits, labels, frames, words):
    """-log p(labels); logits [b, t, u + 1, v], blank is 0. Along the labels by cumulative sums, in time by a scan."""
    scores = logits.astype(F32)
    total = jax.nn.logsumexp(scores, -1)
    blank = scores[..., 0] - total
    emit = jnp.take_along_axis(scores[:, :, :-1], labels[:, None, :, None], -1)[..., 0] - total[:, :, :-1]
    along = jnp.pad(jnp.cumsum(emit, -1), ((0, 0), (0, 0), (1, 0)))

    def frame(alpha, given):
        blank_before, along = given
        alpha = along + jax.lax.cumlogsumexp(alpha + blank_before - along, axis=1)
        return alpha, alpha

    first = along[:, 0]
    _, rest = jax.lax.scan(frame, first, (blank[:, :-1].swapaxes(0, 1), along[:, 1:].swapaxes(0, 1)))
    alphas = jnp.concatenate([first[None], rest])
    row = jnp.arange(labels.shape[0])
    return -(alphas[frames - 1, row, words] + blank[row, frames - 1, words]).mean()


def conformer_transducer(change, now, layers, width, heads, kernel, rate, vocab, predicted, joint):
    import flax.linen as nn

    class FeedForward(nn.Module):
        @nn.compact
        def __call__(self, x):
            y = nn.swish(nn.Dense(4 * width, dtype=now)(nn.LayerNorm(dtype=now)(x)))
            y = nn.Dense(width, dtype=now)(nn.Dropout(rate, deterministic=False)(y))
            return nn.Dropout(rate, deterministic=False)(y)

    class RelativeAttention(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            side = width // heads
            x = nn.LayerNorm(dtype=now)(x)
            q, k, v = (nn.DenseGeneral((heads, side), dtype=now, name=name)(x) for name in ("query", "key", "value"))
            r = sinusoids(x.shape[1], width).astype(now)
            r = nn.DenseGeneral((heads, side), use_bias=False, dtype=now, name="place")(r)
            by_key, by_place = (self.param(name, nn.initializers.xavier_uniform(), (heads, side), F32).astype(now)
                                for name in ("bias_u", "bias_v"))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q + by_key, k)
            scores = scores + shifted(jnp.einsum("bqhd,rhd->bhqr", q + by_place, r))
            scores = jnp.where(mask[:, None, None, :], scores.astype(F32) * side ** -0.5, -1e9)
            weights = nn.Dropout(rate, deterministic=False)(jax.nn.softmax(scores).astype(now))
            mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
            return nn.Dropout(rate, deterministic=False)(nn.DenseGeneral(width, axis=(-2, -1), dtype=now)(mixed))

    class Convolution(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            x = nn.glu(nn.Dense(2 * width, dtype=now)(nn.LayerNorm(dtype=now)(x)))
            x = x * mask[..., None].astype(now)
            x = nn.Conv(width, (kernel,), feature_group_count=width, use_bias=False, dtype=now)(x)
            x = nn.swish(nn.BatchNorm(use_running_average=False, momentum=0.99, dtype=now)(x))
            return nn.Dropout(rate, deterministic=False)(nn.Dense(width, dtype=now)(x))

    class ConformerBlock(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            x = x + 0.5 * FeedForward(name="ff1")(x)
            x = x + RelativeAttention(name="mhsa")(x, mask)
            x = x + Convolution(name="conv")(x, mask)
            x = x + 0.5 * FeedForward(name="ff2")(x)
            return nn.LayerNorm(dtype=now, name="norm")(x)

    class Encoder(nn.Module):
        @nn.compact
        def __call__(self, mels, mask):
            x = mels[..., None].astype(now)
            for _ in range(2):
                x = nn.relu(nn.Conv(width, (3, 3), (2, 2), dtype=now)(x))
            x = nn.Dense(width, dtype=now)(x.reshape(*x.shape[:2], -1))
            x = nn.Dropout(rate, deterministic=False)(x)
            block = nn.remat(ConformerBlock, policy=policy_of(change)) if change.rematerialize else ConformerBlock
            for i in range(layers):
                x = block(name=f"block_{i}")(x, mask)
            return x

    class Transducer(nn.Module):
        @nn.compact
        def __call__(self, mels, frames, labels):
            mask = jnp.arange(mels.shape[1] // 4) < frames[:, None]
            heard = Encoder(name="encoder")(mels, mask)
            history = nn.Embed(vocab, predicted, dtype=now)(jnp.pad(labels, ((0, 0), (1, 0))))
            start = jnp.zeros((labels.shape[0], predicted), now)
            said = nn.RNN(nn.OptimizedLSTMCell(predicted, dtype=now), name="prediction")(
                history, initial_carry=(start, start))
            both = nn.Dense(joint, dtype=now)(heard)[:, :, None] + nn.Dense(joint, dtype=now)(said)[:, None]
            return nn.Dense(vocab, dtype=now, name="out")(nn.tanh(both))
    return Transducer()


def conformer_speech(layers, width, heads, batch, length, words, vocab=1024, kernel=32, predicted=640, joint=640,
                     mels=80, rate=0.1, kind=BF16):
    def make(arrays, change):
        import optax
        rows, shorter = batch // change.batch_divisor, change.length_divisor
        frames, said = length // shorter, words // shorter
        now = compute_dtype(change, kind)
        model = conformer_transducer(change, now, layers, width, heads, kernel, rate, vocab, predicted, joint)
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        made = jax.eval_shape(model.init, keys, jnp.zeros((2, frames, mels)), jnp.ones((2,), jnp.int32),
                              jnp.zeros((2, said), jnp.int32))
        params, moments = cast(made["params"], change.stored), cast(made["batch_stats"], change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            optax.warmup_cosine_decay_schedule(0.0, 2e-3, 10000, 200000), b2=0.98, weight_decay=1e-6))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, moments, key, mels, frames, labels, words):
            key, here = jax.random.split(key)

            def loss_of(params, key, mels, frames, labels, words):
                logits, new = model.apply({"params": params, "batch_stats": moments}, mels, frames, labels,
                                          mutable=["batch_stats"], rngs={"dropout": key})
                return transducer_loss(logits, labels, frames, words), new["batch_stats"]
            loss, new, slopes = summed_slopes(loss_of, change.parts)(params, here, mels, frames, labels, words)
            new = like(jax.tree.map(lambda one: one.mean(0), new), moments)
            params, opt_state = updated(optimizer, slopes, opt_state, params)
            return params, opt_state, new, key, loss
        line = arrays.batch((rows,), jnp.int32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, moments),
                            raw_key(arrays), arrays.batch((rows, frames, mels), F32), line,
                            arrays.batch((rows, said), jnp.int32), line), (0, 1, 2)
    return make
