"""The Audio Spectrogram Transformer (base) on AudioSet: ten seconds of sound, 527 labels, many to a clip.

Flax nnx, twelve blocks in a list. Patches of 16 x 16 overlap by six on 128 mel bands and 1024 frames; mixup and masked
bands and frames are made within the step. Weights and moments are float32, blocks compute in bfloat16, and the state
is donated: Adam, with an average of the weights for evaluation.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, like, policy_of, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype

MELS, PATCH, STRIDE = 128, 16, 10


def grid_of(frames):
    return (MELS - PATCH) // STRIDE + 1, (frames - PATCH) // STRIDE + 1


class Attention(nnx.Module):
    def __init__(self, dim, heads, dtype, rngs):
        self.heads = heads
        self.qkv = nnx.Linear(dim, 3 * dim, dtype=dtype, rngs=rngs)
        self.proj = nnx.Linear(dim, dim, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        b, n, d = x.shape
        q, k, v = jnp.split(self.qkv(x).reshape(b, n, 3 * self.heads, d // self.heads), 3, axis=2)
        attn = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // self.heads) ** -0.5
        attn = jax.nn.softmax(attn.astype(F32), axis=-1).astype(x.dtype)
        return self.proj(jnp.einsum("bhqk,bkhd->bqhd", attn, v).reshape(b, n, d))


class Block(nnx.Module):
    def __init__(self, dim, heads, dtype, rngs):
        self.norm1 = nnx.LayerNorm(dim, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.attn = Attention(dim, heads, dtype, rngs)
        self.norm2 = nnx.LayerNorm(dim, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.fc1 = nnx.Linear(dim, 4 * dim, dtype=dtype, rngs=rngs)
        self.fc2 = nnx.Linear(4 * dim, dim, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.fc2(jax.nn.gelu(self.fc1(self.norm2(x)), approximate=False))


class AST(nnx.Module):
    def __init__(self, depth, dim, heads, frames, labels, dtype, change, rngs):
        self.change, self.dtype = change, dtype
        rows, columns = grid_of(frames)
        self.patch_embed = nnx.Conv(1, dim, (PATCH, PATCH), strides=(STRIDE, STRIDE), padding="VALID", dtype=dtype,
                                    rngs=rngs)
        self.cls_token = nnx.Param(jnp.zeros((1, 1, dim)))
        self.dist_token = nnx.Param(jnp.zeros((1, 1, dim)))
        self.pos_embed = nnx.Param(0.02 * jax.random.normal(rngs.params(), (1, rows * columns + 2, dim)))
        self.blocks = nnx.List([Block(dim, heads, dtype, rngs) for _ in range(depth)])
        self.norm = nnx.LayerNorm(dim, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.head_norm = nnx.LayerNorm(dim, dtype=dtype, rngs=rngs)
        self.head = nnx.Linear(dim, labels, dtype=F32, rngs=rngs)

    def __call__(self, spectrogram):
        """[b, frames, mels] -> [b, labels]"""
        x = self.patch_embed(spectrogram.swapaxes(1, 2)[..., None].astype(self.dtype))
        b, d = x.shape[0], x.shape[-1]
        tokens = [jnp.broadcast_to(t[...].astype(x.dtype), (b, 1, d)) for t in (self.cls_token, self.dist_token)]
        x = jnp.concatenate([*tokens, x.reshape(b, -1, d)], axis=1) + self.pos_embed[...].astype(x.dtype)

        def run(block, x):
            return block(x)
        if self.change.rematerialize:
            run = nnx.remat(run, policy=policy_of(self.change))
        for block in self.blocks:
            x = run(block, x)
        x = self.norm(x)
        return self.head(self.head_norm((x[:, 0] + x[:, 1]) / 2).astype(F32))


def masked(key, x, frequency, time):
    """SpecAugment: one stripe of bands and one of frames of each clip are silent."""
    def stripe(key, size, most):
        first, second = jax.random.split(key)
        width = jax.random.randint(first, (x.shape[0], 1), 0, most)
        start = jax.random.randint(second, (x.shape[0], 1), 0, size - most)
        place = jnp.arange(size)
        return (place >= start) & (place < start + width)
    first, second = jax.random.split(key)
    hidden = stripe(first, x.shape[1], time)[:, :, None] | stripe(second, x.shape[2], frequency)[:, None, :]
    return jnp.where(hidden, 0.0, x)


def mixed(key, x, y, alpha=10.0):
    first, second = jax.random.split(key)
    lam = jax.random.beta(first, alpha, alpha, (x.shape[0],)).astype(x.dtype)
    other = jax.random.permutation(second, x.shape[0])
    x = lam[:, None, None] * x + (1 - lam)[:, None, None] * x[other]
    return x, lam[:, None] * y + (1 - lam)[:, None] * y[other]


def spectrogram_transformer(depth, dim, heads, frames, labels, batch, decay=0.9995, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        length = frames // change.length_divisor
        model = nnx.eval_shape(lambda: AST(depth, dim, heads, length, labels, now, change, nnx.Rngs(0)))
        graphdef, params = nnx.split(model, nnx.Param)
        params = cast(params, change.stored)
        schedule = optax.warmup_exponential_decay_schedule(0.0, 1e-5, 1_000, 20_000, 0.5, transition_begin=40_000)
        optimizer = optax.chain(optax.add_decayed_weights(5e-7), optax.adam(schedule, b1=0.95, b2=0.999))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, fbank, target):
            mix_key, mask_key = jax.random.split(key)
            fbank = (fbank - (-4.27)) / (2 * 4.57)
            x, y = mixed(mix_key, masked(mask_key, fbank, 48, length // 6), target)
            logits = nnx.merge(graphdef, params)(x)
            loss = optax.sigmoid_binary_cross_entropy(logits, y.astype(F32)).mean()
            top = jnp.take_along_axis(target, logits.argmax(-1, keepdims=True), axis=1)
            return loss, {"top1": top.astype(F32).mean()}

        def train_step(params, ema, opt_state, key, fbank, target):
            key, step_key = jax.random.split(key)
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(params, step_key, fbank, target)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            ema = like(optax.incremental_update(params, ema, 1 - decay), ema)
            metrics = {"loss": loss, "grad_norm": optax.global_norm(grads), **jax.tree.map(jnp.mean, aux)}
            return params, ema, opt_state, key, metrics

        return train_step, (laid_out(arrays, params), laid_out(arrays, params), laid_out(arrays, opt_state),
                            raw_key(arrays), arrays.batch((rows, length, MELS), F32),
                            arrays.batch((rows, labels), F32)), (0, 1, 2)
    return make


FAMILY = {"medal_ast_audio": dict(
    make=spectrogram_transformer(depth=12, dim=768, heads=12, frames=1024, labels=527, batch=32), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "micro_batch+rematerialize", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
