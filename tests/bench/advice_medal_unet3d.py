"""A 3D U-Net after nnU-Net on brain tumours (BraTS): four scans of 128 voxels a side, three overlapping regions.

Equinox, one volume at a time under vmap, all in float32: instance norms, leaky relus, strided convolutions down and
transposed ones up, a loss at four depths (Dice with binary cross-entropy), SGD with Nesterov momentum of 0.99.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, on_chips, value_and_mean_grad


class ConvNormAct(eqx.Module):
    conv: eqx.nn.Conv3d
    gain: jax.Array
    shift: jax.Array

    def __init__(self, inputs, outputs, stride, key):
        self.conv = eqx.nn.Conv3d(inputs, outputs, 3, stride, padding=1, key=key)
        self.gain, self.shift = jnp.ones((outputs, 1, 1, 1)), jnp.zeros((outputs, 1, 1, 1))

    def __call__(self, x):
        x = self.conv(x)
        mean = x.mean((1, 2, 3), keepdims=True)
        var = jnp.square(x - mean).mean((1, 2, 3), keepdims=True)
        return jax.nn.leaky_relu((x - mean) * jax.lax.rsqrt(var + 1e-5) * self.gain + self.shift, 0.01)


class Stage(eqx.Module):
    first: ConvNormAct
    second: ConvNormAct

    def __init__(self, inputs, outputs, stride, key):
        a, b = jax.random.split(key)
        self.first, self.second = ConvNormAct(inputs, outputs, stride, a), ConvNormAct(outputs, outputs, 1, b)

    def __call__(self, x):
        return self.second(self.first(x))


class UNet3D(eqx.Module):
    encoder: list
    ups: list
    decoder: list
    heads: list

    def __init__(self, modalities, regions, widths, deep, key):
        k = iter(jax.random.split(key, 4 * len(widths)))
        ins = (modalities, *widths[:-1])
        self.encoder = [Stage(i, o, 1 if n == 0 else 2, next(k)) for n, (i, o) in enumerate(zip(ins, widths))]
        pairs = list(zip(widths[:0:-1], widths[-2::-1]))
        self.ups = [eqx.nn.ConvTranspose3d(i, o, 2, 2, key=next(k)) for i, o in pairs]
        self.decoder = [Stage(2 * o, o, 1, next(k)) for _, o in pairs]
        self.heads = [eqx.nn.Conv3d(o, regions, 1, key=next(k)) for _, o in pairs[-deep:]]

    def __call__(self, x, run):
        """Logits, the finest first."""
        skips = []
        for stage in self.encoder:
            x = run(stage, x)
            skips.append(x)
        skips.pop()
        outs, quiet = [], len(self.decoder) - len(self.heads)
        for n, (up, stage) in enumerate(zip(self.ups, self.decoder)):
            x = run(stage, jnp.concatenate([up(x), skips.pop()]))
            if n >= quiet:
                outs.append(self.heads[n - quiet](x))
        return outs[::-1]


def dice_and_bce(logits, truth):
    logits, truth = logits.astype(F32), truth.astype(F32)
    p = jax.nn.sigmoid(logits)
    axes = (0, 2, 3, 4)
    dice = (2 * (p * truth).sum(axes) + 1e-5) / (p.sum(axes) + truth.sum(axes) + 1e-5)
    return optax.sigmoid_binary_cross_entropy(logits, truth).mean() + 1 - dice.mean()


def regions_of(labels):
    """Whole tumour, its core, what enhances: [b, 3, d, h, w]."""
    return jnp.stack([labels > 0, (labels == 1) | (labels == 3), labels == 3], axis=1)


def unet3d(widths, deep, side, batch, modalities=4, regions=3, steps=250_000, kind=F32):
    def make(arrays, change):
        n, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = eqx.filter_eval_shape(UNet3D, modalities, regions, widths, deep, jax.random.key(0))
        shapes, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(shapes, change.stored)
        optim = optax.chain(optax.clip_by_global_norm(12.0), optax.add_decayed_weights(3e-5), optax.sgd(
            optax.polynomial_schedule(0.01, 0.0, 0.9, steps), momentum=0.99, nesterov=True))

        def run(stage, x):
            if change.rematerialize:
                return eqx.filter_checkpoint(stage, policy=checkpoint_policy(change))(x)
            return stage(x)

        def loss_fn(params, volumes, labels):
            net = eqx.combine(jax.tree.map(lambda w: w.astype(now), params), static)
            outs = jax.vmap(lambda v: net(v, run))(volumes.astype(now))
            truth = regions_of(labels)
            weights = [0.5 ** i for i in range(deep)]
            return sum(w * dice_and_bce(out, truth[:, :, ::2 ** i, ::2 ** i, ::2 ** i])
                       for i, (w, out) in enumerate(zip(weights, outs))) / sum(weights)

        def make_step(params, opt_state, volumes, labels):
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(params, volumes, labels)
            updates, opt_state = optim.update(grads, opt_state, params)
            return eqx.apply_updates(params, updates), opt_state, loss
        state = (on_chips(arrays, tree, are_kernels=True) for tree in (params, jax.eval_shape(optim.init, params)))
        return make_step, (*state, arrays.batch((n, modalities, side, side, side), F32),
                           arrays.batch((n, side, side, side), jnp.uint8)), (0, 1)
    return make


FAMILY = {"medal_unet3d": dict(
    make=unet3d(widths=(32, 64, 128, 256, 320, 320), deep=4, side=128, batch=4), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "shard_parameters", "shard_all"))}
