"""wav2vec 2.0 Large learns from speech that nobody wrote down: masked frames are told from a hundred others.

Plain dictionaries and lax. Seven convolutions make a frame of 20 ms; a grouped convolution gives places; 24 layers
with the norm first are scanned; what is to be recognized is quantized by Gumbel softmax in two codebooks. bfloat16.
"""
import math

import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, specs, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype, decayed, maybe_checkpoint

KERNELS, STRIDES, CHANNELS = (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2), 512
GROUPS, ENTRIES, PLACES_KERNEL, PLACES_GROUPS = 2, 320, 128, 16


def frames_of(samples):
    for kernel, stride in zip(KERNELS, STRIDES):
        samples = (samples - kernel) // stride + 1
    return samples


def linear(inputs, outputs):
    return {"w": (inputs, outputs), "b": (outputs,)}


def norm(width):
    return {"scale": (width,), "bias": (width,)}


def parameter_shapes(layers, width, hidden, code):
    def stacked(tree):
        return jax.tree.map(lambda shape: (layers, *shape), tree, is_leaf=lambda s: isinstance(s, tuple))
    return {
        "convs": [{"kernel": (kernel, 1 if i == 0 else CHANNELS, CHANNELS), "b": (CHANNELS,), "norm": norm(CHANNELS)}
                  for i, kernel in enumerate(KERNELS)],
        "feature_norm": norm(CHANNELS), "project": linear(CHANNELS, width), "mask_embedding": (width,),
        "places": {"direction": (PLACES_KERNEL, width // PLACES_GROUPS, width), "size": (PLACES_KERNEL, 1, 1),
                   "b": (width,)},
        "layers": stacked({"norm1": norm(width), "q": linear(width, width), "k": linear(width, width),
                           "v": linear(width, width), "o": linear(width, width),
                           "norm2": norm(width), "up": linear(width, hidden), "down": linear(hidden, width)}),
        "final_norm": norm(width),
        "quantizer": {"scores": linear(CHANNELS, GROUPS * ENTRIES), "codebook": (GROUPS, ENTRIES, code // GROUPS)},
        "project_code": linear(code, code), "project_hidden": linear(width, code)}


def dense(p, x):
    return jnp.dot(x, p["w"].astype(x.dtype)) + p["b"].astype(x.dtype)


def layer_norm(p, x):
    wide = x.astype(F32)
    wide = (wide - wide.mean(-1, keepdims=True)) * jax.lax.rsqrt(wide.var(-1, keepdims=True) + 1e-5)
    return (wide * p["scale"] + p["bias"]).astype(x.dtype)


def dropout(key, x, rate):
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0).astype(x.dtype)


def conv1d(x, kernel, stride, padding="VALID", groups=1):
    return jax.lax.conv_general_dilated(x, kernel.astype(x.dtype), (stride,), padding, feature_group_count=groups,
                                        dimension_numbers=("NHC", "HIO", "NHC"))


def encoded_audio(params, audio):
    x = audio[..., None]
    for p, stride in zip(params["convs"], STRIDES):
        x = conv1d(x, p["kernel"], stride) + p["b"].astype(x.dtype)
        x = jax.nn.gelu(layer_norm(p["norm"], x), approximate=False)
    return x


def placed(p, x):
    """Weight norm over all but the taps of the kernel."""
    direction = p["direction"].astype(F32)
    kernel = p["size"] * direction / jnp.sqrt(jnp.square(direction).sum((1, 2), keepdims=True) + 1e-12)
    half = PLACES_KERNEL // 2
    y = conv1d(x, kernel, 1, [(half, half - 1)], PLACES_GROUPS) + p["b"].astype(x.dtype)
    return x + jax.nn.gelu(y, approximate=False)


def transformer_layer(x, p, key, heads, rate):
    batch, length, width = x.shape
    first, second, third = jax.random.split(key, 3)
    h = layer_norm(p["norm1"], x)
    q, k, v = (dense(p[name], h).reshape(batch, length, heads, -1) for name in "qkv")
    logits = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(width // heads)
    weights = dropout(first, jax.nn.softmax(logits.astype(F32), axis=-1).astype(x.dtype), rate)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)
    x = x + dropout(second, dense(p["o"], mixed), rate)
    h = jax.nn.gelu(dense(p["up"], layer_norm(p["norm2"], x)), approximate=False)
    return x + dropout(third, dense(p["down"], h), rate)


def quantized(p, features, key, temperature, weights):
    """Codes that are one-hot forwards and soft backwards, and how evenly the entries are used."""
    batch, length, _ = features.shape
    scores = dense(p["scores"], features).reshape(batch, length, GROUPS, ENTRIES).astype(F32)
    soft = jax.nn.softmax((scores + jax.random.gumbel(key, scores.shape)) / temperature, axis=-1)
    hard = jax.nn.one_hot(soft.argmax(-1), ENTRIES)
    chosen = soft + jax.lax.stop_gradient(hard - soft)
    used = (jax.nn.softmax(scores, axis=-1) * weights[..., None, None]).sum((0, 1)) / weights.sum()
    perplexity = jnp.exp(-(used * jnp.log(used + 1e-7)).sum(-1)).sum()
    codes = jnp.einsum("btge,ged->btgd", chosen.astype(features.dtype), p["codebook"].astype(features.dtype))
    return codes.reshape(batch, length, -1), perplexity


def unit(x):
    return x * jax.lax.rsqrt(jnp.square(x.astype(F32)).sum(-1, keepdims=True) + 1e-8).astype(x.dtype)


def wav2vec_pretraining(layers, width, heads, hidden, code, batch, samples, negatives=100, rate=0.1, kind=BF16):
    def make(arrays, change):
        rows, heard = batch // change.batch_divisor, samples // change.length_divisor
        frames, now = frames_of(heard), compute_dtype(change, kind)
        params = cast(specs(parameter_shapes(layers, width, hidden, code)), change.stored)
        rate_of = optax.polynomial_schedule(5e-4, 0.0, 1.0, 218_000, 32_000)
        optimizer = optax.chain(optax.clip_by_global_norm(25.0),
                                optax.adamw(rate_of, 0.9, 0.98, 1e-6, weight_decay=0.01, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, params)
        layer = maybe_checkpoint(change, lambda x, p, key: transformer_layer(x, p, key, heads, rate))

        def forward(params, key, audio, is_masked, temperature):
            drop_key, code_key, layer_key = jax.random.split(key, 3)
            features = encoded_audio(params, audio.astype(now))
            features = 0.1 * features + jax.lax.stop_gradient(0.9 * features)   # the convolutions learn slowly
            features = layer_norm(params["feature_norm"], features)
            codes, perplexity = quantized(params["quantizer"], features, code_key, temperature, is_masked.astype(F32))
            x = dropout(drop_key, dense(params["project"], features), rate)
            x = placed(params["places"], jnp.where(is_masked[..., None], params["mask_embedding"].astype(now), x))
            x, _ = jax.lax.scan(lambda x, given: (layer(x, *given), None), x,
                                (params["layers"], jax.random.split(layer_key, layers)))
            x = layer_norm(params["final_norm"], x)
            return unit(dense(params["project_hidden"], x)), unit(dense(params["project_code"], codes)), perplexity

        def loss_of(params, key, audio, is_masked, others, temperature):
            heard, codes, perplexity = forward(params, key, audio, is_masked, temperature[0])
            wrong = jax.vmap(lambda its, places: its[places])(codes, others)                   # b t n d
            right = jnp.einsum("btd,btd->bt", heard, codes)[..., None]
            logits = jnp.concatenate([right, jnp.einsum("btd,btnd->btn", heard, wrong)], axis=-1).astype(F32) / 0.1
            losses = -jax.nn.log_softmax(logits, axis=-1)[..., 0]
            weights = is_masked.astype(F32)
            contrast = (losses * weights).sum() / weights.sum()
            diversity = (GROUPS * ENTRIES - perplexity) / (GROUPS * ENTRIES)
            accuracy = ((logits.argmax(-1) == 0) * weights).sum() / weights.sum()
            return contrast + 0.1 * diversity, {"contrast": contrast, "perplexity": perplexity, "accuracy": accuracy}

        def train_step(params, opt_state, key, step, audio, is_masked, others):
            key, now_key = jax.random.split(key)
            temperature = jnp.broadcast_to(jnp.maximum(2.0 * 0.999995 ** step.astype(F32), 0.1), audio.shape[:1])
            loss, told, grads = summed_slopes(loss_of, change.parts)(params, now_key, audio, is_masked, others,
                                                                     temperature)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, step + 1, {"loss": loss, **jax.tree.map(jnp.mean, told)}

        stacks = {"layers": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), raw_key(arrays),
                            arrays.array((), jnp.int32), arrays.batch((rows, heard), F32),
                            arrays.batch((rows, frames), jnp.bool_),
                            arrays.batch((rows, frames, negatives), jnp.int32)), (0, 1)
    return make


FAMILY = {"round_wav2vec": dict(
    make=wav2vec_pretraining(24, 1024, 16, 4096, 768, batch=16, samples=200_000), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
