"""V-JEPA: what is hidden in a video is foretold in the features of an averaged encoder; haiku with layer_stack, AdamW.

The maker takes its Arrays and Change, and gives (step, arguments, donated). The encoder sees a few tubes of a clip, the
averaged one all of them; a narrow predictor is given places of the others. Places come with the batch.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import cast, computing, laid_out, like, policy_of, summed_slopes, updated
from advice_board_training import BF16, F32, decayed

MEAN, SPREAD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


def waves_of_places(counts, width):
    """Sines and cosines of time, height and width, for tubes in order."""
    import numpy as np
    sizes = width - 2 * (width // 6 * 2), width // 6 * 2, width // 6 * 2
    axes = np.meshgrid(*(np.arange(count) for count in counts), indexing="ij")
    parts = []
    for size, places in zip(sizes, axes):
        rates = 1.0 / 10000 ** (np.arange(size // 2) / (size / 2.0))
        angles = places.reshape(-1, 1) * rates
        parts += [np.sin(angles), np.cos(angles)]
    return np.concatenate(parts, -1).astype(np.float32)


def taken(tokens, places):
    return jnp.take_along_axis(tokens, places[..., None], 1)


def networks(change, counts, patch, sizes, foretelling):
    import haiku as hk
    start = hk.initializers.TruncatedNormal(0.02)

    def linear(width, name):
        return hk.Linear(width, w_init=start, name=name)

    def norm(name):
        return hk.LayerNorm(-1, True, True, eps=1e-6, name=name)

    class Block(hk.Module):
        def __init__(self, heads, name="block"):
            super().__init__(name=name)
            self.heads = heads

        def __call__(self, x):
            width = x.shape[-1]
            h = linear(3 * width, "qkv")(norm("norm1")(x))
            q, k, v = jnp.split(h.reshape(*h.shape[:2], 3 * self.heads, -1), 3, 2)
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
            weights = jax.nn.softmax(scores.astype(F32), -1).astype(x.dtype)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)
            x = x + linear(width, "proj")(mixed)
            h = jax.nn.gelu(linear(4 * width, "fc1")(norm("norm2")(x)))
            return x + linear(width, "fc2")(h)

    def stacked(layers, heads, x):
        def one(x):
            block = Block(heads)
            return (hk.remat(block, policy=policy_of(change)) if change.rematerialize else block)(x)
        return hk.experimental.layer_stack(layers)(one)(x)

    def encoder(clips, seen=None):
        layers, width, heads = sizes
        x = hk.Conv3D(width, patch, patch, padding="VALID", w_init=start, name="patch_embed")(clips)
        x = x.reshape(x.shape[0], -1, width) + jnp.asarray(waves_of_places(counts, width), x.dtype)
        if seen is not None:
            x = taken(x, seen)
        return norm("norm")(stacked(layers, heads, x))

    def predictor(features, seen, hidden):
        layers, width, heads = foretelling
        everywhere = jnp.asarray(waves_of_places(counts, width), features.dtype)
        mask = hk.get_parameter("mask_token", (1, 1, width), features.dtype, init=start)
        x = linear(width, "embed")(features) + everywhere[seen]
        x = jnp.concatenate([x, mask + everywhere[hidden]], 1)
        x = norm("norm")(stacked(layers, heads, x))
        return linear(features.shape[-1], "proj")(x[:, seen.shape[1]:])
    return (hk.without_apply_rng(hk.transform(encoder)), hk.without_apply_rng(hk.transform(predictor)))


def stacks_of(*trees):
    return {name: 0 for tree in trees for name in tree if "layer_stack" in name}


def video_jepa(sizes, foretelling, batch, frames, pixels, share=0.2, patch=(2, 16, 16), kind=BF16):
    def make(arrays, change):
        import optax
        rows, long = batch // change.batch_divisor, frames // change.length_divisor
        now = computing(change, kind)
        counts = long // patch[0], pixels // patch[1], pixels // patch[2]
        tubes = counts[0] * counts[1] * counts[2]
        few = int(share * tubes) // 8 * 8
        encoder, predictor = networks(change, counts, patch, sizes, foretelling)
        clip, key = jax.ShapeDtypeStruct((1, long, pixels, pixels, 3), F32), jax.random.key(0)
        seen, hidden = (jax.ShapeDtypeStruct((1, size), jnp.int32) for size in (few, tubes - few))
        features = jax.ShapeDtypeStruct((1, few, sizes[1]), F32)
        params = cast({"encoder": jax.eval_shape(encoder.init, key, clip),
                       "predictor": jax.eval_shape(predictor.init, key, features, seen, hidden)}, change.stored)
        stacks = stacks_of(*params.values())
        rate = optax.warmup_cosine_decay_schedule(2e-4, 6.25e-4, 12000, 90000, 1e-6)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adamw(rate, weight_decay=0.04, mask=decayed))

        def train_step(params, averaged, state, clips, seen, hidden):
            def loss_of(params, _, clips, seen, hidden):
                clips = ((clips.astype(F32) - jnp.array(MEAN)) / jnp.array(SPREAD)).astype(now)
                wanted = encoder.apply(cast(averaged, now), clips).astype(F32)
                wanted = (wanted - wanted.mean(-1, keepdims=True)) / jnp.sqrt(wanted.var(-1, keepdims=True) + 1e-5)
                wanted = jax.lax.stop_gradient(taken(wanted, hidden))
                params = cast(params, now)
                told = predictor.apply(params["predictor"], encoder.apply(params["encoder"], clips, seen), seen, hidden)
                spread = jnp.sqrt(told.astype(F32).var(1) + 1e-4)
                return jnp.abs(told.astype(F32) - wanted).mean() + 0.1 * jax.nn.relu(1 - spread).mean(), None
            loss, _, slopes = summed_slopes(loss_of, change.parts)(params, None, clips, seen, hidden)
            params, state = updated(optimizer, slopes, state, params)
            averaged = like(optax.incremental_update(params["encoder"], averaged, 1 - 0.998), averaged)
            return params, averaged, state, loss
        arguments = (laid_out(arrays, params, stacks), laid_out(arrays, params["encoder"], stacks),
                     laid_out(arrays, jax.eval_shape(optimizer.init, params), stacks),
                     arrays.batch((rows, long, pixels, pixels, 3), jnp.uint8),
                     arrays.batch((rows, few), jnp.int32), arrays.batch((rows, tubes - few), jnp.int32))
        return train_step, arguments, (0, 1, 2)
    return make
