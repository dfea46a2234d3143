"""Models of transformers (below 5) that other exams have not: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (clipped_adamw, matrices_only, model_of, next_word_loss, random_key, trained,
                                   warmed_up)
from advice_structures import BF16, F32


def many_languages(config, batch, length, kind=BF16):
    """BLOOM: a decoder with ALiBi, of rows with padding."""
    def make(arrays, change):
        model = model_of(change, "FlaxBloomForCausalLM", kind, config, "FlaxBloomBlock")
        rows = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(params, ids, mask, key):
            logits = model(ids, attention_mask=mask, params=params, dropout_rng=key, train=True).logits
            return next_word_loss(logits, ids)
        return trained(arrays, change, model.params_shape_tree, loss_of, clipped_adamw(2e-4), rows, rows,
                       random_key(arrays))
    return make


def pictures_in_classes(config, batch, classes, kind=F32):
    """ViT, with mixed labels and smoothing as its recipe has them."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxViTForImageClassification", kind, config | {"num_labels": classes},
                         "FlaxViTLayer")
        size, side = batch // change.batch_divisor, config["image_size"]
        images, labels = arrays.batch((size, 3, side, side), F32), arrays.batch((size,), jnp.int32)

        def loss_of(params, images, labels, share, key):
            mixed = share * images + (1 - share) * images[::-1]
            logits = model(mixed, params=params, dropout_rng=key, train=True).logits
            both = share * jax.nn.one_hot(labels, classes) + (1 - share) * jax.nn.one_hot(labels[::-1], classes)
            return optax.softmax_cross_entropy(logits.astype(F32), optax.smooth_labels(both, 0.1)).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(warmed_up(3e-3), weight_decay=0.3, mask=matrices_only))
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, images, labels,
                       arrays.array((), F32), random_key(arrays))
    return make
