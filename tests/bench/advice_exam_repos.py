"""Programs as public JAX repositories have them, written without a look at the advice or its figures: language.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). These are of
transformers' other flax models and in the manner of MaxText, PaLM-jax and GShard; advice_exam_repos_scenes.py has
pictures, advice_exam_repos_time.py what goes on over time. All share the steps of advice_exam_libraries.py.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, model_of, next_word_loss, placed,
                                   random_key, trained, warmed_up, word_loss)
from advice_structures import BF16, F32


# --- Steps ---

def trained_with_average(arrays, change, shapes, loss_of, optimizer, decay, *batch):
    """A state of parameters, their moving average and the optimizer's, in one dictionary."""
    import optax
    params = as_kind(shapes, change.stored)
    state = {"params": params, "average": params, "optimizer": jax.eval_shape(optimizer.init, params)}

    def train_step(state, *batch):
        loss, grads = jax.value_and_grad(loss_of)(state["params"], *batch)
        updates, optimizer_state = optimizer.update(grads, state["optimizer"], state["params"])
        params = optax.apply_updates(state["params"], updates)
        average = optax.incremental_update(params, state["average"], 1 - decay)
        return {"params": params, "average": as_kind(average, change.stored), "optimizer": optimizer_state}, loss
    return train_step, (placed(arrays, state), *batch), (0,)


# --- Models of transformers ---

def named_entities(config, batch, length, kind=F32):
    """Electra, that tags each word, of rows with padding, as run_flax_ner.py trains it."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxElectraForTokenClassification", kind, config)
        rows = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(params, ids, mask, kinds, tags, key):
            logits = model(ids, mask, kinds, params=params, dropout_rng=key, train=True).logits
            return word_loss(logits, jnp.maximum(tags, 0), (tags >= 0).astype(F32))
        optimizer = optax.adamw(optax.linear_schedule(5e-5, 0.0, 30000), eps=1e-6, weight_decay=0.01,
                                mask=matrices_only)
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, rows, rows, rows, rows,
                       random_key(arrays))
    return make


def dropped_paths(config, batch, kind=BF16):
    """DINOv2 with its gated units and stochastic depth, that tells classes; parameters are averaged too."""
    def make(arrays, change):
        import optax
        side = config["image_size"]
        model = model_of(change, "FlaxDinov2ForImageClassification", kind, config, "FlaxDinov2Layer",
                         input_shape=(1, side, side, 3))
        size = batch // change.batch_divisor

        def loss_of(params, images, labels, key):
            logits = model(images, params=params, dropout_rng=key, train=True).logits.astype(F32)
            wanted = optax.smooth_labels(jax.nn.one_hot(labels, logits.shape[-1]), 0.1)
            return optax.softmax_cross_entropy(logits, wanted).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(3.0),
                                optax.adamw(warmed_up(4e-4), weight_decay=0.04, mask=matrices_only))
        return trained_with_average(arrays, change, model.params_shape_tree, loss_of, optimizer, 0.9998,
                                    arrays.batch((size, 3, side, side), F32), arrays.batch((size,), jnp.int32),
                                    random_key(arrays))
    return make


def near_and_far(config, batch, length, kind=BF16):
    """GPT-Neo: every second layer sees a window only, by a mask over all of the row; parameters by parts."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxGPTNeoForCausalLM", kind, config, "FlaxGPTNeoBlock")
        ids = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def kinds_of(params):
            def one(path, leaf):
                return "words" if any(part in jax.tree_util.keystr(path) for part in ("wte", "wpe")) else "rest"
            return jax.tree_util.tree_map_with_path(one, params)

        def loss_of(params, ids, mask, key):
            logits = model(ids, mask, params=params, dropout_rng=key, train=True).logits
            return word_loss(logits[:, :-1], ids[:, 1:], mask[:, 1:].astype(F32))
        by_kind = {"words": optax.sgd(warmed_up(0.1), momentum=0.9), "rest": clipped_adamw(2e-4)}
        return trained(arrays, change, model.params_shape_tree, loss_of, optax.multi_transform(by_kind, kinds_of), ids,
                       ids, random_key(arrays))
    return make


def letters_of_sound(config, batch, samples, letters, kind=F32):
    """wav2vec 2.0 on waves, trained by CTC; the convolutions that read the waves stay as they are."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxWav2Vec2ForCTC", kind, config, "FlaxWav2Vec2EncoderLayerStableLayerNorm",
                         input_shape=(1, samples))
        size = batch // change.batch_divisor
        waves, targets = arrays.batch((size, samples), F32), arrays.batch((size, letters), jnp.int32)

        def loss_of(params, waves, targets, key):
            logits = model(waves, params=params, dropout_rng=key, train=True, freeze_feature_encoder=True).logits
            padding = jnp.zeros(logits.shape[:2], F32)
            return optax.ctc_loss(logits.astype(F32), padding, targets, (targets == 0).astype(F32)).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warmed_up(3e-5), b2=0.98, eps=1e-8))
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, waves, targets, random_key(arrays))
    return make


def many_tongues(config, batch, length, kind=BF16):
    """XGLM, most of whose weights are words; by Adafactor."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxXGLMForCausalLM", kind, config, "FlaxXGLMDecoderLayer")
        ids = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(params, ids, key):
            return next_word_loss(model(ids, params=params, dropout_rng=key, train=True).logits, ids)
        optimizer = optax.adafactor(optax.linear_schedule(1e-3, 0.0, 100000), weight_decay_rate=1e-3)
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, ids, random_key(arrays))
    return make


# --- In the manner of MaxText ---

def rotated(x):
    angles = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-2 * jnp.arange(x.shape[-1] // 2) / x.shape[-1])
    low, high = jnp.split(x.astype(F32), 2, -1)
    sine, cosine = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    return jnp.concatenate([low * cosine - high * sine, high * cosine + low * sine], -1).astype(x.dtype)


def looked_back(query, key, value):
    """Of groups of heads that share their keys; weights in float32."""
    size, length, heads, side = query.shape
    query = query.reshape(size, length, key.shape[2], -1, side) * side ** -0.5
    logits = jnp.einsum("btkgd,bskd->bkgts", query, key, preferred_element_type=F32)
    logits = jnp.where(jnp.tril(jnp.ones((length, length), bool)), logits, -0.7 * jnp.finfo(F32).max)
    weights = jax.nn.softmax(logits).astype(value.dtype)
    return jnp.einsum("bkgts,bskd->btkgd", weights, value).reshape(size, length, heads, side)


def pulled_together_loss(logits, ids, pull=1e-4):
    """Of next words, with what keeps the logits' normalizer near one."""
    logits = logits[:, :-1].astype(F32)
    normalizer = jax.nn.logsumexp(logits, -1)
    said = jnp.take_along_axis(logits, ids[:, 1:, None], -1)[..., 0]
    return jnp.mean(normalizer - said + pull * jnp.square(normalizer))


def second_axis_decoder(layers, width, heads, groups, side, hidden, vocabulary, batch, length, kind=BF16):
    """Weights by head, stacked along their second axis by nn.scan; layers by nn.remat."""
    def make(arrays, change):
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind), "use_bias": False}

        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x):
                def general(shape, name, axis=-1):
                    return nn.DenseGeneral(shape, axis, name=name, **kinds)

                def norm(name):
                    return nn.RMSNorm(dtype=kinds["dtype"], name=name)
                h = norm("pre_self_attention_layer_norm")(x)
                query = rotated(general((heads, side), "query")(h))
                key, value = (general((groups, side), name)(h) for name in ("key", "value"))
                x = x + general(width, "out", (-2, -1))(looked_back(query, rotated(key), value))
                h = norm("post_self_attention_layer_norm")(x)
                gated = nn.silu(general(hidden, "wi_0")(h)) * general(hidden, "wi_1")(h)
                return x + general(width, "wo")(gated), None

        class Decoder(nn.Module):
            @nn.compact
            def __call__(self, ids):
                x = nn.Embed(vocabulary, width, dtype=kinds["dtype"], name="token_embedder")(ids)
                layer = nn.remat(Layer, prevent_cse=False) if change.rematerialize else Layer
                x, _ = nn.scan(layer, variable_axes={"params": 1}, split_rngs={"params": True}, length=layers,
                               metadata_params={})(name="layers")(x)
                return nn.Dense(vocabulary, name="logits_dense", **kinds)(nn.RMSNorm(dtype=kinds["dtype"])(x))

        model, ids = Decoder(), arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))["params"]

        def loss_of(params, ids):
            return pulled_together_loss(model.apply({"params": params}, ids), ids)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(), ids)
    return make


# --- In the manner of PaLM-jax ---

def side_by_side(layers, width, heads, side, vocabulary, batch, length, kind=BF16):
    """Equinox: one product for queries, the one key, the one value and the gated units; by Lion."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        inner = 4 * width
        parts = heads * side, heads * side + side, heads * side + 2 * side, heads * side + 2 * side + inner

        class Block(eqx.Module):
            scale: jax.Array
            fused: jax.Array
            mixed_out: jax.Array
            gated_out: jax.Array

            def __init__(self, key):
                self.scale = jnp.ones((width,))
                self.fused = jax.random.normal(key, (width, parts[-1] + inner))
                self.mixed_out = jax.random.normal(key, (heads * side, width))
                self.gated_out = jax.random.normal(key, (inner, width))

            def __call__(self, x):
                h = x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-5) * self.scale
                query, key, value, up, gate = jnp.split(h @ self.fused, parts, -1)
                mixed = looked_back(rotated(query.reshape(*x.shape[:2], heads, side)), rotated(key[:, :, None]),
                                    value[:, :, None])
                return x + mixed.reshape(*x.shape[:2], -1) @ self.mixed_out + (up * jax.nn.silu(gate)) @ self.gated_out

        class Words(eqx.Module):
            table: jax.Array
            blocks: list
            scale: jax.Array

            def __init__(self, key):
                self.table = 0.02 * jax.random.normal(key, (vocabulary, width))
                self.blocks = [Block(one) for one in jax.random.split(key, layers)]
                self.scale = jnp.ones((width,))

            def __call__(self, ids):
                x = self.table[ids]
                for block in self.blocks:
                    x = (eqx.filter_checkpoint(block) if change.rematerialize else block)(x)
                return (x * self.scale) @ self.table.T

        ids = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(model, ids):
            return next_word_loss(as_kind(model, computed(change, kind))(ids), ids)
        optimizer = optax.MultiSteps(optax.lion(warmed_up(1e-4), b2=0.98, weight_decay=0.1, mask=matrices_only), 6)
        shapes = eqx.filter_eval_shape(Words, jax.random.key(0))
        return trained(arrays, change, shapes, loss_of, optimizer, ids)
    return make


# --- In the manner of GShard ---

def dispatched(gates, room):
    """Of groups of words, [group, word, expert]: by which share each goes to which place of an expert, or to none."""
    experts, shares, used = gates.shape[-1], 0.0, 0
    for _ in range(2):
        chosen = jax.nn.one_hot(gates.argmax(-1), experts, dtype=F32)
        place = jnp.cumsum(chosen, 1) - chosen + used
        used = used + chosen.sum(1, keepdims=True)
        places = jax.nn.one_hot(jnp.where(chosen > 0, place, room).astype(jnp.int32), room, dtype=F32)
        shares = shares + (chosen * gates)[..., None] * places
        gates = gates * (1 - chosen)
    return shares


def switched_decoder(layers, width, heads, hidden, experts, vocabulary, batch, length, room, kind=BF16):
    """linen: every second layer has experts with room for so many words, which others miss; by Adafactor."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}

        class Experts(nn.Module):
            @nn.compact
            def __call__(self, x):
                gates = nn.softmax(nn.Dense(experts, use_bias=False, dtype=F32, name="router")(x.astype(F32)))
                first = jax.nn.one_hot(gates.argmax(-1), experts)
                balance = experts ** 2 * jnp.mean(gates.mean(1) * first.mean(1))
                shares = dispatched(gates, room)
                wi = self.param("wi", nn.initializers.lecun_normal(), (experts, width, hidden))
                wo = self.param("wo", nn.initializers.lecun_normal(), (experts, hidden, width))
                sent = jnp.einsum("gsec,gsm->egcm", (shares > 0).astype(x.dtype), x)
                h = nn.relu(jnp.einsum("egcm,emh->egch", sent, wi.astype(x.dtype)))
                made = jnp.einsum("egch,ehm->egcm", h, wo.astype(x.dtype))
                return jnp.einsum("gsec,egcm->gsm", shares.astype(x.dtype), made), balance

        class Layer(nn.Module):
            is_sparse: bool

            @nn.compact
            def __call__(self, x, mask):
                h = nn.LayerNorm(use_bias=False, **kinds)(x)
                x = x + nn.MultiHeadDotProductAttention(heads, use_bias=False, **kinds)(h, mask=mask)
                h = nn.LayerNorm(use_bias=False, **kinds)(x)
                if self.is_sparse:
                    made, balance = Experts()(h)
                    return x + made, balance
                return x + nn.Dense(width, **kinds)(nn.relu(nn.Dense(hidden, **kinds)(h))), 0.0

        class Decoder(nn.Module):
            @nn.compact
            def __call__(self, ids):
                embed, mask, total = nn.Embed(vocabulary, width, **kinds), nn.make_causal_mask(ids, dtype=bool), 0.0
                x = embed(ids)
                layer = nn.remat(Layer) if change.rematerialize else Layer
                for i in range(layers):
                    x, balance = layer(i % 2 == 1, name=f"layer_{i}")(x, mask)
                    total = total + balance
                return embed.attend(nn.LayerNorm(use_bias=False, **kinds)(x)), total

        model, ids = Decoder(), arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, length), jnp.int32))["params"]

        def loss_of(params, ids):
            logits, balance = model.apply({"params": params}, ids)
            return pulled_together_loss(logits, ids) + 0.01 * balance
        return trained(arrays, change, shapes, loss_of, optax.adafactor(warmed_up(1e-2), momentum=0.9), ids)
    return make
