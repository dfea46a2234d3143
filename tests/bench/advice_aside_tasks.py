"""Answers told from wrong ones by three vectors a layer, and one word said by many softmaxes at once.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_aside_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, placed, random_key, trained, warmed_up
from advice_fresh import maybe_checkpointed, root_normed, shaped
from advice_structures import BF16, F32


# --- Three vectors a layer ---

def bucketed(queries, keys, count, is_two_sided):
    """T5's: small distances have a bucket each, larger ones share them."""
    far = jnp.arange(keys)[None] - jnp.arange(queries)[:, None]
    start = 0
    if is_two_sided:
        count //= 2
        start, far = jnp.where(far > 0, count, 0), jnp.abs(far)
    else:
        far = jnp.maximum(-far, 0)
    exact = count // 2
    large = exact + (jnp.log(jnp.maximum(far, 1) / exact) / jnp.log(128 / exact) * (count - exact)).astype(jnp.int32)
    return start + jnp.where(far < exact, far, jnp.minimum(large, count - 1))


def scaled_attention(x, source, w, learnt, name, bias, heads):
    """T5's without a scale of scores; keys and values are multiplied by what is learnt."""
    q = (x @ w[name + "_q"]).reshape(*x.shape[:2], heads, -1)
    k = ((source @ w[name + "_k"]) * learnt[name + "_k"]).reshape(*source.shape[:2], heads, -1)
    v = ((source @ w[name + "_v"]) * learnt[name + "_v"]).reshape(*source.shape[:2], heads, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) + bias
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(v.dtype), v)
    return mixed.reshape(*x.shape[:2], -1) @ w[name + "_o"]


def scaled_units(x, w, learnt):
    return (jax.nn.gelu(x @ w["wi_0"]) * (x @ w["wi_1"]) * learnt["units"]) @ w["wo"]


def three_vectors(layers, width, heads, hidden, vocab, choices, batch, length, answer, kind=BF16):
    """T-Few: a frozen T0, of which keys, values and units are scaled; the right answer is told from the other choices.

    A question is read once, and all of its choices look at it.
    """
    def products(name):
        return {f"{name}_{one}": (layers, width, width) for one in "qkvo"}

    def vectors(*names):
        return {f"{name}_{one}": (layers, width) for name in names for one in "kv"} | {"units": (layers, hidden)}
    units = {"wi_0": (layers, width, hidden), "wi_1": (layers, width, hidden), "wo": (layers, hidden, width)}

    def make(arrays, change):
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        frozen = shaped(shared=(vocab, width), lm_head=(width, vocab), encoder_norm=(width,), decoder_norm=(width,),
                        encoder_bias=(32, heads), decoder_bias=(32, heads), encoder_layer_stack=products("self") | units
                        | {"norm_1": (layers, width), "norm_2": (layers, width)},
                        decoder_layer_stack=products("self") | products("cross") | units
                        | {f"norm_{i}": (layers, width) for i in (1, 2, 3)})
        learnt = shaped(encoder_layer_stack=vectors("self"), decoder_layer_stack=vectors("self", "cross"))

        def read(learnt, p, ids, mask):
            bias = p["encoder_bias"][bucketed(time, time, 32, True)].transpose(2, 0, 1).astype(F32)
            bias = bias[None] + jnp.where(mask > 0, 0.0, -1e30)[:, None, None]

            def layer(x, w, own):
                h = root_normed(x, w["norm_1"])
                x = x + scaled_attention(h, h, w, own, "self", bias, heads)
                return x + scaled_units(root_normed(x, w["norm_2"]), w, own)
            block = maybe_checkpointed(change, layer)
            x, _ = jax.lax.scan(lambda x, both: (block(x, *both), None), p["shared"][ids],
                                (p["encoder_layer_stack"], learnt["encoder_layer_stack"]))
            return root_normed(x, p["encoder_norm"])

        def said(learnt, p, source, mask, ids):
            causal = jnp.where(jnp.tril(jnp.ones((answer, answer), bool)), 0.0, -1e30)
            near = p["decoder_bias"][bucketed(answer, answer, 32, False)].transpose(2, 0, 1).astype(F32) + causal
            far = jnp.where(mask > 0, 0.0, -1e30)[:, None, None]

            def layer(x, w, own):
                h = root_normed(x, w["norm_1"])
                x = x + scaled_attention(h, h, w, own, "self", near, heads)
                asked = root_normed(x, w["norm_2"]).reshape(b, choices * answer, width)
                x = x + scaled_attention(asked, source, w, own, "cross", far, heads).reshape(x.shape)
                return x + scaled_units(root_normed(x, w["norm_3"]), w, own)
            block = maybe_checkpointed(change, layer)
            start = jnp.pad(ids.reshape(b * choices, answer)[:, :-1], ((0, 0), (1, 0)))
            x, _ = jax.lax.scan(lambda x, both: (block(x, *both), None), p["shared"][start],
                                (p["decoder_layer_stack"], learnt["decoder_layer_stack"]))
            return (root_normed(x, p["decoder_norm"]) @ p["lm_head"]).astype(F32).reshape(b, choices, answer, vocab)

        def loss_of(learnt, frozen, ids, mask, answers, right):
            learnt, p = as_kind(learnt, now), as_kind(frozen, now)
            logits = said(learnt, p, read(learnt, p, ids, mask), mask, answers)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, answers)
            counted = (answers > 0).astype(F32)
            of_choice = (losses * counted).sum(-1)
            mine = jax.nn.one_hot(right, choices)
            said_right = (of_choice * mine).sum() / (counted.sum(-1) * mine).sum()
            unlikely = -jnp.log1p(-jnp.exp(-losses) + 1e-6) * counted * (1 - mine)[..., None]
            told = optax.softmax_cross_entropy(-of_choice / jnp.maximum(counted.sum(-1), 1), mine).mean()
            return said_right + unlikely.sum() / jnp.maximum((counted.sum(-1) * (1 - mine)).sum(), 1) + told
        rows = arrays.batch((b, time), jnp.int32)
        return trained(arrays, change, learnt, loss_of, optax.adafactor(3e-3), placed(
            arrays, as_kind(frozen, change.stored)), rows, rows, arrays.batch((b, choices, answer), jnp.int32),
            arrays.batch((b,), jnp.int32))
    return make


# --- Many softmaxes ---

def mixed_softmaxes(x, w, table, bias, targets, count):
    """Minus the logarithm of what a mixture of softmaxes gives the next words; x [batch, time, width]."""
    prior = jax.nn.log_softmax((x @ w["prior"]).astype(F32))
    latent = jnp.tanh(x @ w["latent"] + w["latent_bias"]).reshape(*x.shape[:2], count, -1)
    chances = jax.nn.log_softmax((latent @ table.T + bias).astype(F32))
    together = jax.nn.logsumexp(chances + prior[..., None], axis=2)
    return -jnp.take_along_axis(together, targets[..., None], -1)[..., 0]


def many_softmaxes(layers, width, hidden, last, vocab, count, batch, length, kind=F32):
    """AWD-LSTM with a mixture of softmaxes, in haiku: one mask of dropout for all of a row; the table is the head."""
    def make(arrays, change):
        import haiku as hk
        import optax
        rows = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)

        def dropped(x, rate):
            """[time, batch, width], the same for all of time."""
            kept = jax.random.bernoulli(hk.next_rng_key(), 1 - rate, (1, *x.shape[1:]))
            return jnp.where(kept, x / (1 - rate), 0).astype(x.dtype)

        def run(ids):
            table = hk.get_parameter("words", (vocab, width), init=hk.initializers.RandomUniform(-0.1, 0.1))
            x, states = dropped(table[ids].swapaxes(0, 1), 0.4), []
            for i in range(layers):
                core = hk.LSTM(last if i == layers - 1 else hidden, name=f"lstm_{i}")
                start = jax.tree.map(lambda s: s.astype(x.dtype), core.initial_state(x.shape[1]))
                x, _ = hk.dynamic_unroll(core, x, start)
                states.append(x)
                x = dropped(x, 0.25)
            normal = hk.initializers.TruncatedNormal(0.04)
            mixture = {"prior": hk.get_parameter("prior", (last, count), init=normal),
                       "latent": hk.get_parameter("latent", (last, count * width), init=normal),
                       "latent_bias": hk.get_parameter("latent_bias", (count * width,), init=jnp.zeros),
                       "bias": hk.get_parameter("bias", (vocab,), init=jnp.zeros)}
            return x.swapaxes(0, 1), states[-1], mixture, table
        model = hk.transform(run)
        ids = arrays.batch(rows, jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros(rows, jnp.int32))

        def loss_of(params, ids, targets, key):
            x, raw, mixture, table = model.apply(as_kind(params, now), jax.random.wrap_key_data(key), ids)
            head = maybe_checkpointed(change, lambda *given: mixed_softmaxes(*given, count))
            losses = head(x, mixture, table, mixture["bias"], targets)
            slow = jnp.mean(jnp.square((raw[1:] - raw[:-1]).astype(F32)))
            return losses.mean() + 2.0 * jnp.mean(jnp.square(x.astype(F32))) + slow
        optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.add_decayed_weights(1.2e-6, matrices_only),
                                optax.adam(warmed_up(1e-3), b1=0.9, b2=0.99))
        return trained(arrays, change, shapes, loss_of, optimizer, ids, ids, random_key(arrays))
    return make
