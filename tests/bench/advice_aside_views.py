"""Parts of pictures that are foreseen in states of a slower net, and a small reader that a frozen one teaches.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it; advice_aside_families.py has the sizes.
"""
import dataclasses

import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, matrices_only, model_of, placed, random_key, trained, warmed_up, word_loss
from advice_fresh import graded, maybe_checkpointed, shaped
from advice_structures import BF16, F32
from advice_trial_sequences import cast, kind_of


# --- Pictures ---

def centred(x, p, name):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-6)
    return wide.astype(x.dtype) * p[f"{name}_gain"] + p[f"{name}_shift"]


def stack_of(depth, width):
    matrices = {"qkv": (width, 3 * width), "proj": (width, width), "fc1": (width, 4 * width), "fc2": (4 * width, width)}
    vectors = {"qkv_b": 3 * width, "proj_b": width, "fc1_b": 4 * width, "fc2_b": width, "norm1_gain": width,
               "norm1_shift": width, "norm2_gain": width, "norm2_shift": width}
    return {name: (depth, *shape) for name, shape in matrices.items()} | {
        name: (depth, size) for name, size in vectors.items()}


def through(change, stack, x, heads):
    def block(x, p):
        b, n, width = x.shape
        q, k, v = jnp.moveaxis((centred(x, p, "norm1") @ p["qkv"] + p["qkv_b"]).reshape(b, n, 3, heads, -1), 2, 0)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
        weights = jax.nn.softmax(scores.astype(F32), -1).astype(x.dtype)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p["proj"] + p["proj_b"]
        h = jax.nn.gelu(centred(x, p, "norm2") @ p["fc1"] + p["fc1_b"])
        return x + h @ p["fc2"] + p["fc2_b"], None
    return jax.lax.scan(maybe_checkpointed(change, block), x, stack)[0]


def foreseen_parts(tower, foreseer, side, patch, shown, blocks, hidden, batch, kind=BF16):
    """I-JEPA: a tower sees some patches, a narrow one foresees what a slower tower, which sees all, has at others."""
    (depth, width, heads), (few, narrow, few_heads) = tower, foreseer
    count = (side // patch) ** 2

    def make(arrays, change):
        import optax
        now, b = kind_of(change, kind), batch // change.batch_divisor
        sees = shaped(patch_embed=(patch * patch * 3, width), patch_bias=(width,), layer_stack=stack_of(depth, width),
                      last_gain=(width,), last_shift=(width,))
        guess = shaped(enter=(width, narrow), asked=(narrow,), layer_stack=stack_of(few, narrow), last_gain=(narrow,),
                       last_shift=(narrow,), leave=(narrow, width), leave_bias=(width,))

        def places(size):
            angles = jnp.arange(count)[:, None] / 10000.0 ** (jnp.arange(size // 2) / (size // 2))
            return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).astype(now)

        def patches(p, pictures):
            n = side // patch
            x = pictures.astype(now).reshape(-1, n, patch, n, patch, 3).transpose(0, 1, 3, 2, 4, 5)
            return x.reshape(x.shape[0], count, -1) @ p["patch_embed"] + p["patch_bias"] + places(width)

        def loss_of(both, slow, pictures, seen, asked):
            p, g, slow = cast(both["sees"], now), cast(both["guess"], now), cast(slow, now)
            rows = pictures.shape[0]
            whole = centred(through(change, slow["layer_stack"], patches(slow, pictures), heads), slow, "last")
            wide = whole.astype(F32)
            wide = (wide - wide.mean(-1, keepdims=True)) * jax.lax.rsqrt(wide.var(-1, keepdims=True) + 1e-6)
            flat = asked.reshape(rows, blocks * hidden)
            aim = jax.lax.stop_gradient(jnp.take_along_axis(wide, flat[..., None], 1)).reshape(-1, hidden, width)
            x = jnp.take_along_axis(patches(p, pictures), seen[..., None], 1)
            x = centred(through(change, p["layer_stack"], x, heads), p, "last") @ g["enter"]
            x = jnp.repeat(x + places(narrow)[seen], blocks, axis=0)
            tokens = g["asked"] + places(narrow)[asked].reshape(-1, hidden, narrow)
            x = through(change, g["layer_stack"], jnp.concatenate([x, tokens], 1), few_heads)[:, shown:]
            told = centred(x, g, "last") @ g["leave"] + g["leave_bias"]
            return optax.huber_loss(told.astype(F32), aim).mean()

        optimizer = optax.adamw(warmed_up(1e-3), weight_decay=0.05, mask=matrices_only)
        params = as_kind({"sees": sees, "guess": guess}, change.stored)
        state = jax.eval_shape(optimizer.init, params)

        def train_step(params, slow, state, pictures, seen, asked):
            def of_params(params, *batch):
                return loss_of(params, slow, *batch)
            loss, grads = graded(of_params, change.parts)(params, pictures, seen, asked)
            updates, state = optimizer.update(grads, state, params)
            params = optax.apply_updates(params, updates)
            slow = jax.tree.map(lambda s, p: (0.996 * s + 0.004 * p).astype(s.dtype), slow, params["sees"])
            return params, slow, state, loss
        return train_step, (placed(arrays, params), placed(arrays, params["sees"]), placed(arrays, state),
                            arrays.batch((b, side, side, 3), F32), arrays.batch((b, shown), jnp.int32),
                            arrays.batch((b, blocks, hidden), jnp.int32)), (0, 1, 2)
    return make


# --- A small reader ---

def kept_inputs(block):
    """nn.remat of DistilBERT's block, which is called with names alone."""
    from flax import linen

    class KeptInputs(block):
        def __call__(self, hidden_states, attn_mask, **flags):
            def run(module, hidden_states, attn_mask):
                return block.__call__(module, hidden_states, attn_mask, **flags)
            return linen.remat(run)(self, hidden_states, attn_mask)
    return KeptInputs


def distilled_reader(student, teacher, warmth, batch, length, kind=BF16):
    """DistilBERT of transformers, taught by a frozen BERT: softened words, masked words, and last states alike."""
    def make(arrays, change):
        import optax
        from transformers.models.distilbert import modeling_flax_distilbert as source
        if change.rematerialize:  # for good: each variant is made in a process of its own
            source.FlaxTransformerBlock = kept_inputs(source.FlaxTransformerBlock)
        plain = dataclasses.replace(change, rematerialize=False)  # neither has to ask its library for it
        small = model_of(plain, "FlaxDistilBertForMaskedLM", kind_of(change, kind), student)
        large = model_of(plain, "FlaxBertForMaskedLM", kind_of(change, kind), teacher)
        frozen = placed(arrays, as_kind(large.params_shape_tree, change.stored))
        rows = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)

        def loss_of(params, frozen, ids, mask, labels, key):
            told = large(ids, mask, params=frozen, output_hidden_states=True)
            made = small(ids, mask, params=params, dropout_rng=key, train=True, output_hidden_states=True)
            there = mask.astype(F32)
            aim = jax.nn.softmax(jax.lax.stop_gradient(told.logits).astype(F32) / warmth)
            soft = -(aim * jax.nn.log_softmax(made.logits.astype(F32) / warmth)).sum(-1) * warmth ** 2
            last, wanted = made.hidden_states[-1], jax.lax.stop_gradient(told.hidden_states[-1])
            apart = optax.cosine_distance(last.astype(F32), wanted.astype(F32), epsilon=1e-6)
            words = word_loss(made.logits, jnp.maximum(labels, 0), (labels >= 0).astype(F32))
            return ((5.0 * soft + apart) * there).sum() / there.sum() + 2.0 * words
        optimizer = optax.adamw(warmed_up(5e-4), eps=1e-6, weight_decay=0.01, mask=matrices_only)
        return trained(arrays, change, small.params_shape_tree, loss_of, optimizer, frozen, rows, rows, rows,
                       random_key(arrays))
    return make
