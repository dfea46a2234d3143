"""Models that libraries bring, trained as their users do: written without a look at the advice or its figures.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). These are of
transformers (below 5, which still has flax models); advice_exam_nets.py has those that are built of a library's layers.
A library is imported where its model is made, so that the programs of others compile without it.
"""
import functools
import sys

import jax
import jax.numpy as jnp

from advice_structures import BF16, F32


# --- Where parameters lie, and what they are stored in ---

STACKS = "scanned", "layer_stack"  # what modules are called whose parameters have a leading dimension of layers
CONVOLUTIONS = "conv", "patch_embedding"  # and those whose kernels have their output channels last


def split_of(arrays, name, shape):
    """The first dimension that can be split, of convolutions the last; none of a vector, nor that of a stack."""
    lead = int(any(part in name for part in STACKS))
    if sum(size > 1 for size in shape[lead:]) < 2:
        return None
    order = range(lead, len(shape))
    is_convolution = any(part in name for part in CONVOLUTIONS)
    return next((d for d in (reversed(order) if is_convolution else order) if shape[d] % arrays.mesh.size == 0), None)


def placed(arrays, tree):
    """Parameters, or the state of an optimizer, whose leaves are called and split as the parameters they belong to."""
    def one(path, leaf):
        name = jax.tree_util.keystr(path)
        return arrays.array(leaf.shape, leaf.dtype, split_of(arrays, name, leaf.shape))
    return jax.tree_util.tree_map_with_path(one, tree)


def as_kind(tree, kind):
    """Floating leaves, abstract or not, in this type."""
    def one(leaf):
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            return leaf
        return jax.ShapeDtypeStruct(leaf.shape, kind) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf.astype(kind)
    return jax.tree.map(one, tree)


def computed(change, kind):
    return change.stored if change.follows else kind


# --- Steps ---

def trained(arrays, change, shapes, loss_of, optimizer, *batch):
    import optax
    params = as_kind(shapes, change.stored)
    state = jax.eval_shape(optimizer.init, params)

    def train_step(params, state, *batch):
        loss, grads = jax.value_and_grad(loss_of)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss
    return train_step, (placed(arrays, params), placed(arrays, state), *batch), (0, 1)


def trained_with_statistics(arrays, change, shapes, statistics, loss_of, optimizer, *batch):
    """The loss is given, and gives, statistics of batches too, which no gradient moves."""
    import optax
    params, statistics = as_kind(shapes, change.stored), as_kind(statistics, change.stored)
    state = jax.eval_shape(optimizer.init, params)

    def train_step(params, statistics, state, *batch):
        (loss, made), grads = jax.value_and_grad(loss_of, has_aux=True)(params, statistics, *batch)
        updates, state = optimizer.update(grads, state, params)
        made = jax.tree.map(lambda new, old: new.astype(old.dtype), made, statistics)
        return optax.apply_updates(params, updates), made, state, loss
    arguments = placed(arrays, params), placed(arrays, statistics), placed(arrays, state), *batch
    return train_step, arguments, (0, 1, 2)


def word_loss(logits, ids, weights=None):
    import optax
    losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), ids)
    return losses.mean() if weights is None else (losses * weights).sum() / weights.sum()


def next_word_loss(logits, ids):
    return word_loss(logits[:, :-1], ids[:, 1:])


def matrices_only(params):
    """A mask of what decays: biases and norms do not."""
    return jax.tree.map(lambda p: p.ndim > 1, params)


def warmed_up(peak):
    import optax
    return optax.warmup_cosine_decay_schedule(0.0, peak, 2000, 100000)


def clipped_adamw(rate=3e-4):
    import optax
    return optax.chain(optax.clip_by_global_norm(1.0),
                       optax.adamw(warmed_up(rate), b2=0.95, weight_decay=0.1, mask=matrices_only))


def random_key(arrays):
    return arrays.array((2,), jnp.uint32)


# --- Models of transformers ---

def rematerialized(block):
    """nn.remat of a class whose call takes flags by name, which nn.remat itself cannot leave untraced."""
    from flax import linen

    class Rematerialized(block):
        def __call__(self, x, *args, **kwargs):
            return linen.remat(lambda module, x: block.__call__(module, x, *args, **kwargs))(self, x)
    return Rematerialized


def model_of(change, name, kind, config, *blocks, **options):
    """The model `name` that computes in `kind`; where it cannot checkpoint by itself, its `blocks` are nn.remat's."""
    import transformers
    made = getattr(transformers, name)
    if change.rematerialize:  # for good: each variant is made in a process of its own
        source = sys.modules[made.__module__]
        for block in blocks:
            setattr(source, block, rematerialized(getattr(source, block)))
    if isinstance(config, dict):
        config = made.config_class(**config)
    model = made(config, dtype=computed(change, kind), _do_init=False, **options)
    if change.rematerialize and not blocks:
        model.enable_gradient_checkpointing()
    return model


def causal(name, block, config, batch, length, kind=BF16, rate=3e-4):
    """Decoders that say the next word, with the dropout that their configuration has."""
    def make(arrays, change):
        model = model_of(change, name, kind, config, block)
        ids = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(params, ids, key):
            return next_word_loss(model(ids, params=params, dropout_rng=key, train=True).logits, ids)
        return trained(arrays, change, model.params_shape_tree, loss_of, clipped_adamw(rate), ids, random_key(arrays))
    return make


def masked(name, config, batch, length, kind=F32):
    """Encoders that say the words that were masked, of rows with padding."""
    def make(arrays, change):
        model = model_of(change, name, kind, config)
        rows = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(params, ids, mask, labels, key):
            logits = model(ids, mask, params=params, dropout_rng=key, train=True).logits
            return word_loss(logits, jnp.maximum(labels, 0), (labels >= 0).astype(F32))
        return trained(arrays, change, model.params_shape_tree, loss_of, clipped_adamw(1e-4), rows, rows, rows,
                       random_key(arrays))
    return make


def text_to_text(config, batch, source, target, kind=BF16):
    """BART, by Adafactor."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxBartForConditionalGeneration", kind, config, "FlaxBartEncoderLayer",
                         "FlaxBartDecoderLayer")
        size = batch // change.batch_divisor
        sources, targets = (arrays.batch((size, length), jnp.int32) for length in (source, target))

        def loss_of(params, sources, mask, targets, labels, key):
            logits = model(sources, mask, targets, params=params, dropout_rng=key, train=True).logits
            return word_loss(logits, labels, (labels != 1).astype(F32))
        return trained(arrays, change, model.params_shape_tree, loss_of, optax.adafactor(1e-3), sources, sources,
                       targets, targets, random_key(arrays))
    return make


def spoken_words(config, batch, words, kind=BF16):
    """Whisper: frames of sound, and the words that are said in them."""
    def make(arrays, change):
        import optax
        frames = 2 * config["max_source_positions"]
        model = model_of(change, "FlaxWhisperForConditionalGeneration", kind, config,
                         input_shape=(1, config["num_mel_bins"], frames))
        size = batch // change.batch_divisor
        sound = arrays.batch((size, config["num_mel_bins"], frames), F32)
        ids = arrays.batch((size, words), jnp.int32)

        def loss_of(params, sound, ids, labels, key):
            logits = model(sound, ids, params=params, dropout_rng=key, train=True).logits
            return word_loss(logits, labels, (labels > 0).astype(F32))
        optimizer = optax.adamw(warmed_up(1e-4), b2=0.98, eps=1e-6, weight_decay=0.0)
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, sound, ids, ids, random_key(arrays))
    return make


def images_and_texts(text, vision, side, batch, words, kind=F32):
    """CLIP."""
    def make(arrays, change):
        import optax
        from transformers import CLIPConfig
        config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=side)
        model = model_of(change, "FlaxCLIPModel", kind, config, "FlaxCLIPEncoderLayer")
        size, pixels = batch // change.batch_divisor, vision["image_size"]
        ids, images = arrays.batch((size, words), jnp.int32), arrays.batch((size, 3, pixels, pixels), F32)

        def loss_of(params, ids, images):
            scores = model(ids, images, params=params, train=True).logits_per_text
            pairs = jnp.arange(size)
            return (word_loss(scores, pairs) + word_loss(scores.T, pairs)) / 2
        optimizer = optax.adamw(5e-4, b1=0.9, b2=0.98, eps=1e-6, weight_decay=0.2, mask=matrices_only)
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, ids, images)
    return make


def residual_images(config, batch, side, kind=F32):
    """ResNet with its batch statistics, by momentum."""
    def make(arrays, change):
        import optax
        block = "FlaxResNetBottleNeckLayer" if config["layer_type"] == "bottleneck" else "FlaxResNetBasicLayer"
        model = model_of(change, "FlaxResNetForImageClassification", kind, config, block,
                         input_shape=(1, side, side, 3))
        shapes, size = model.params_shape_tree, batch // change.batch_divisor
        images, labels = arrays.batch((size, 3, side, side), F32), arrays.batch((size,), jnp.int32)

        def loss_of(params, statistics, images, labels):
            variables = {"params": params, "batch_stats": statistics}
            made, new = model(images, params=variables, train=True)
            return word_loss(made.logits, labels), new["batch_stats"]
        optimizer = optax.chain(optax.add_decayed_weights(1e-4, matrices_only),
                                optax.sgd(warmed_up(0.4), momentum=0.9, nesterov=True))
        return trained_with_statistics(arrays, change, shapes["params"], shapes["batch_stats"], loss_of, optimizer,
                                       images, labels)
    return make


def low_rank(name, block, config, rank, batch, length, kind=BF16):
    """A decoder that stays as it is, but for the products of two thin matrices that are added to some of its own."""
    def make(arrays, change):
        import optax
        from flax.traverse_util import flatten_dict, unflatten_dict
        model = model_of(change, name, kind, config, block)
        frozen = dict(flatten_dict(model.params_shape_tree))
        adapted = {path: leaf.shape for path, leaf in frozen.items() if path[-2] in ("q_proj", "v_proj")
                   and path[-1] == "kernel"}
        thin = {"/".join(path): {"a": jax.ShapeDtypeStruct((rows, rank), F32),
                                 "b": jax.ShapeDtypeStruct((rank, columns), F32)}
                for path, (rows, columns) in adapted.items()}

        def loss_of(thin, frozen, ids):
            merged = {path: leaf + (2.0 * added["a"] @ added["b"]).astype(leaf.dtype)
                      if (added := thin.get("/".join(path))) else leaf for path, leaf in frozen.items()}
            return next_word_loss(model(ids, params=unflatten_dict(merged), train=True).logits, ids)
        ids = arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        return trained(arrays, change, thin, loss_of, optax.adamw(1e-4, weight_decay=0.0),
                       placed(arrays, as_kind(frozen, change.stored)), ids)
    return make


def next_word(name, config, batch, room, kind=BF16):
    """One step of generation: past_key_values go in and come out with the word's own added."""
    def make(arrays, change):
        model = model_of(change, name, kind, config)
        size = batch // change.batch_divisor
        caches = jax.eval_shape(functools.partial(model.init_cache, size, room))
        split = 0 if change.shard == "all" else None
        caches = jax.tree.map(lambda c: arrays.array(c.shape, c.dtype, split if c.ndim else None), caches)
        word, mask = arrays.batch((size, 1), jnp.int32), arrays.batch((size, room), jnp.int32)

        def step(params, caches, word, mask, place):
            made = model(word, attention_mask=mask, position_ids=place, params=params, past_key_values=caches)
            return made.logits[:, -1:].argmax(-1).astype(jnp.int32), made.past_key_values
        params = placed(arrays, as_kind(model.params_shape_tree, change.stored))
        return step, (params, caches, word, mask, word), (1,)
    return make
