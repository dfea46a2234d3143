"""Letters, sessions, sounds and translated words over time, as other authors write them.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import model_of, random_key, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


def kind_of(change, kind):
    """What it computes in: what is asked for, or what parameters are stored in, or its own."""
    return change.computed or (change.stored if change.follows else kind)


def cast(tree, kind):
    return jax.tree.map(lambda leaf: leaf.astype(kind), tree)


# --- Letters, by a light recurrence ---

def light_letters(depth, width, letters, batch, length, kind=F32):
    """SRU on text8: one product for all times, then a scan of nothing but multiplications; a loss for each letter."""
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        shapes = shaped(letters=(letters, width), bias=(letters,))
        shapes["units"] = [shaped(w=(width, 3 * width), v_f=(width,), v_r=(width,), b_f=(width,), b_r=(width,),
                                  gain=(width,), shift=(width,)) for _ in range(depth)]

        def unit(p, x):
            """Of [time, batch, width]."""
            mean = jnp.mean(x, -1, keepdims=True)
            h = (x - mean) * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * p["gain"] + p["shift"]
            told, forget, reset = jnp.split(h @ p["w"], 3, -1)

            def tick(c, now_at):
                told, forget, reset, skip = now_at
                f = jax.nn.sigmoid(forget + p["v_f"] * c + p["b_f"])
                r = jax.nn.sigmoid(reset + p["v_r"] * c + p["b_r"])
                c = f * c + (1 - f) * told
                return c, r * c + (1 - r) * skip
            start = jnp.zeros(x.shape[1:], x.dtype)
            return x + jax.lax.scan(tick, start, (told, forget, reset, h))[1]

        def loss_of(params, text):
            p = cast(params, now)
            x = p["letters"][text[:, :-1].T]
            for one in p["units"]:
                x = maybe_checkpointed(change, unit)(one, x)
            return word_loss(x @ p["letters"].T + p["bias"], text[:, 1:].T)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warmed_up(2e-4), b2=0.98))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((rows, time + 1), jnp.int32))
    return make


# --- Sessions of items ---

def dilated_sessions(items, width, dilations, batch, length, wrong, kind=BF16):
    """NextItNet: causal convolutions that reach further and further; rows of two tables, cast after they are read."""
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        shapes = shaped(read={"table": (items, width)}, told={"table": (items, width), "bias": (items,)})
        shapes["blocks"] = [shaped(first=(3 * width, width), second=(3 * width, width), first_gain=(width,),
                                   second_gain=(width,)) for _ in dilations]

        def behind(x, by):
            return jnp.pad(x, ((0, 0), (by, 0), (0, 0)))[:, :x.shape[1]]

        def conv(x, kernel, reach):
            return jnp.concatenate([behind(x, 2 * reach), behind(x, reach), x], -1) @ kernel

        def norm(x, gain):
            wide = x.astype(F32)
            wide = wide - wide.mean(-1, keepdims=True)
            return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * gain

        def block(p, x, reach):
            h = jax.nn.relu(norm(conv(x, p["first"], reach), p["first_gain"]))
            return x + jax.nn.relu(norm(conv(h, p["second"], 2 * reach), p["second_gain"]))

        def loss_of(params, session, negatives):
            x = params["read"]["table"][session[:, :-1]].astype(now)
            for p, reach in zip(params["blocks"], dilations):
                def reaching(p, x, reach=reach):
                    return block(p, x, reach)
                x = maybe_checkpointed(change, reaching)(cast(p, now), x)
            told, bias = params["told"]["table"], params["told"]["bias"]
            right, others = session[:, 1:], negatives.reshape(-1)
            score = jnp.sum(x * told[right].astype(now), -1).astype(F32) + bias[right]
            against = (x @ told[others].astype(now).T).astype(F32) + bias[others]
            against = jnp.where(right[..., None] == others, -1e9, against)
            most = jnp.logaddexp(score, jax.nn.logsumexp(against, -1))
            seen = (right > 0).astype(F32)
            return jnp.sum((most - score) * seen) / jnp.sum(seen)
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adam(1e-3),
                                arrays.batch((rows, time + 1), jnp.int32), arrays.batch((rows, wrong), jnp.int32))
    return make


# --- Voices told apart ---

def voices_apart(repeats, reaches, basis, narrow, wide, samples, batch, kind=F32):
    """Conv-TasNet: a learnt basis, blocks of separable convolutions, a mask for each of two voices; either order."""
    span, hop = 16, 8

    def make(arrays, change):
        import optax
        now, rows = kind_of(change, kind), batch // change.batch_divisor
        count = samples // change.length_divisor
        one = {"into": (narrow, wide), "slope_a": (wide,), "gain_a": (wide,), "shift_a": (wide,), "taps": (3, wide),
               "slope_b": (wide,), "gain_b": (wide,), "shift_b": (wide,), "stay": (wide, narrow),
               "skip": (wide, narrow)}
        shapes = shaped(encoder=(span, basis), squeeze=(basis, narrow), masks=(narrow, 2 * basis),
                        decoder=(basis, span))
        shapes["scanned"] = {f"reach_{reach}": shaped(**{name: (repeats, *size) for name, size in one.items()})
                             for reach in reaches}

        def normed(x, gain, shift):
            """Over time and channels of each example."""
            mean = x.mean((1, 2), keepdims=True)
            return (x - mean) * jax.lax.rsqrt(jnp.square(x - mean).mean((1, 2), keepdims=True) + 1e-8) * gain + shift

        def leaky(x, slope):
            return jnp.where(x > 0, x, slope * x)

        def block(p, x, reach):
            h = normed(leaky(x @ p["into"], p["slope_a"]), p["gain_a"], p["shift_a"])
            time = h.shape[1]
            h = jnp.pad(h, ((0, 0), (reach, reach), (0, 0)))
            h = sum(h[:, i * reach:i * reach + time] * p["taps"][i] for i in range(3))
            h = normed(leaky(h, p["slope_b"]), p["gain_b"], p["shift_b"])
            return x + h @ p["stay"], h @ p["skip"]

        def repeat(carry, p):
            x, skips = carry
            for reach in reaches:
                def reaching(p, x, reach=reach):
                    return block(p, x, reach)
                x, skip = maybe_checkpointed(change, reaching)(p[f"reach_{reach}"], x)
                skips = skips + skip
            return (x, skips), None

        def ratio(guess, voice):
            """How much louder than its error each guess is, in dB."""
            guess, voice = (w - w.mean(-1, keepdims=True) for w in (guess, voice))
            along = (guess * voice).sum(-1, keepdims=True) / ((voice ** 2).sum(-1, keepdims=True) + 1e-8) * voice
            return 10 * jnp.log10((along ** 2).sum(-1) / (((guess - along) ** 2).sum(-1) + 1e-8) + 1e-8)

        def loss_of(params, mixed, voices):
            p = cast(params, now)
            hops = mixed.astype(now).reshape(mixed.shape[0], -1, hop)
            heard = jax.nn.relu(jnp.concatenate([hops[:, :-1], hops[:, 1:]], -1) @ p["encoder"])
            x = heard @ p["squeeze"]
            (_, skips), _ = jax.lax.scan(repeat, (x, jnp.zeros_like(x)), p["scanned"])
            masks = jax.nn.sigmoid(jax.nn.relu(skips) @ p["masks"])
            told = jnp.stack([(mask * heard) @ p["decoder"] for mask in jnp.split(masks, 2, -1)], 1).astype(F32)
            first, second = (jnp.pad(part, ((0, 0), (0, 0), room, (0, 0))) for part, room in (
                (told[..., :hop], (0, 1)), (told[..., hop:], (1, 0))))
            told, voices = (first + second).reshape(voices.shape), voices.astype(F32)
            as_is, swapped = ratio(told, voices).mean(-1), ratio(told, voices[:, ::-1]).mean(-1)
            return -jnp.maximum(as_is, swapped).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(1e-3))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((rows, count), F32),
                                arrays.batch((rows, 2, count), F32))
    return make


# --- A model of transformers ---

def translated_by_mbart(config, batch, source, target, kind=F32):
    """mBART: much of it is one table of words, which is the head too; labels smoothed; Adafactor with momentum."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxMBartForConditionalGeneration", kind, config, "FlaxMBartEncoderLayer",
                         "FlaxMBartDecoderLayer")
        rows = batch // change.batch_divisor
        texts, answers = (arrays.batch((rows, count // change.length_divisor), jnp.int32)
                          for count in (source, target))

        def loss_of(params, texts, mask, before, answers, key):
            logits = model(texts, mask, before, params=params, dropout_rng=key, train=True).logits.astype(F32)
            logs = jax.nn.log_softmax(logits)
            right = jnp.take_along_axis(logs, answers[..., None], -1)[..., 0]
            there = (answers != 1).astype(F32)
            return -jnp.sum((0.8 * right + 0.2 * logs.mean(-1)) * there) / there.sum()
        optimizer = optax.adafactor(warmed_up(3e-4), momentum=0.9, multiply_by_parameter_scale=False)
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, texts, texts, answers, answers,
                       random_key(arrays))
    return make
