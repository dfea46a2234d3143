"""VoVNetV2-39 on ImageNet: one-shot aggregation with effective squeeze-excite, in haiku, all in float32.

Five 3 x 3 convolutions in a row, whose inputs and outputs are concatenated once and mixed by a 1 x 1; stages are of
one, one, two and two such modules. SGD with momentum and cosine decay; the state of the batch norms travels by itself.
"""
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, like, summed_slopes
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

STAGES = ((128, 256, 1), (160, 512, 1), (192, 768, 2), (224, 1024, 2))  # inner channels, outer, modules
INSIDE = 5
HE = hk.initializers.VarianceScaling(2.0, "fan_out", "truncated_normal")


class TrainingState(NamedTuple):
    params: hk.Params
    bn_state: hk.State
    opt_state: optax.OptState


def conv_bn_relu(x, channels, kernel, stride, is_training, name):
    x = hk.Conv2D(channels, kernel, stride, with_bias=False, w_init=HE, name=f"{name}_conv")(x)
    norm = hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9, eps=1e-5, name=f"{name}_bn")
    return jax.nn.relu(norm(x, is_training))


class OneShot(hk.Module):
    """One-shot aggregation, with the gate of its channels."""

    def __init__(self, inner, outer, name=None):
        super().__init__(name=name)
        self.inner, self.outer = inner, outer

    def __call__(self, x, is_training):
        kept = [x]
        y = x
        for i in range(INSIDE):
            y = conv_bn_relu(y, self.inner, 3, 1, is_training, f"layer{i}")
            kept.append(y)
        y = conv_bn_relu(jnp.concatenate(kept, axis=-1), self.outer, 1, 1, is_training, "concat")
        gate = hk.Conv2D(self.outer, 1, name="ese")(jnp.mean(y, axis=(1, 2), keepdims=True))
        y = y * jax.nn.relu6(gate + 3.0) / 6.0
        return x + y if x.shape[-1] == self.outer else y


class VoVNet(hk.Module):
    def __init__(self, classes, change, name="vovnet"):
        super().__init__(name=name)
        self.classes, self.change = classes, change

    def __call__(self, images, is_training):
        x = conv_bn_relu(images, 64, 3, 2, is_training, "stem0")
        x = conv_bn_relu(x, 64, 3, 1, is_training, "stem1")
        x = conv_bn_relu(x, 128, 3, 2, is_training, "stem2")
        for s, (inner, outer, modules) in enumerate(STAGES):
            if s:
                x = hk.MaxPool(3, 2, "SAME")(x)
            for m in range(modules):
                module = OneShot(inner, outer, name=f"stage{s + 2}_osa{m}")

                def run(x, module=module):
                    return module(x, is_training)
                if self.change.rematerialize:
                    run = hk.remat(run, policy=checkpoint_policy(self.change))
                x = run(x)
        x = jnp.mean(x, axis=(1, 2))
        return hk.Linear(self.classes, w_init=hk.initializers.RandomNormal(0.01), name="head")(x).astype(F32)


def vovnet_imagenet(classes, pixels, batch, peak=0.4, smoothing=0.1, decay=5e-5, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        forward = hk.without_apply_rng(hk.transform_with_state(
            lambda images, is_training: VoVNet(classes, change)(images, is_training)))
        params, bn_state = jax.eval_shape(
            lambda: forward.init(jax.random.key(0), jnp.zeros((1, pixels, pixels, 3)), True))
        params = cast(params, change.stored)
        optimizer = optax.chain(
            optax.add_decayed_weights(decay, mask=lambda tree: jax.tree.map(lambda p: p.ndim > 1, tree)),
            optax.sgd(optax.warmup_cosine_decay_schedule(0.0, peak, 6_000, 120_000), momentum=0.9))
        opt_state = jax.eval_shape(optimizer.init, params)

        def update(state, images, labels):
            def loss_fn(params, _, images, labels):
                weights = jax.tree.map(lambda w: w.astype(now), params)
                logits, bn_state = forward.apply(weights, state.bn_state, images.astype(now), True)
                targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), smoothing)
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                top5 = jax.lax.top_k(logits, 5)[1]
                return loss, (bn_state, {"top1": jnp.mean(top5[:, 0] == labels),
                                         "top5": jnp.mean(jnp.any(top5 == labels[:, None], axis=-1))})
            loss, (bn_state, metrics), grads = summed_slopes(loss_fn, change.parts)(
                state.params, None, images, labels)
            updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
            params = optax.apply_updates(state.params, updates)
            bn_state = like(jax.tree.map(lambda s: s[-1], bn_state), state.bn_state)
            new = TrainingState(params, bn_state, like(opt_state, state.opt_state))
            return new, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        state = TrainingState(*(laid_out(arrays, tree) for tree in (params, bn_state, opt_state)))
        return update, (state, arrays.batch((rows, pixels, pixels, 3), F32), arrays.batch((rows,), jnp.int32)), (0,)
    return make


FAMILY = {"cup_vovnet": dict(
    make=vovnet_imagenet(classes=1000, pixels=224, batch=256), is_donated=False,
    variants=("donate_inputs", "bf16_parameters", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "donate_inputs+rematerialize", "shard_parameters", "shard_all"))}
