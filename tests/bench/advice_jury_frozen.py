"""Fine-tuning of what is mostly frozen: low-rank additions to a scanned decoder, adapters in an equinox encoder.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, warmed_up, word_loss
from advice_fresh import graded, maybe_checkpointed, root_normed, shaped
from advice_jury_decoding import rope
from advice_structures import BF16, F32


def tuned(arrays, change, learnt, frozen, loss_of, optimizer, *batch):
    """loss_of(learnt, frozen, *batch): gradients and state are of what is learnt."""
    import optax
    learnt = as_kind(learnt, change.stored)
    state = jax.eval_shape(optimizer.init, learnt)

    def train_step(learnt, state, frozen, *batch):
        loss, grads = graded(lambda own, *rows: loss_of(own, frozen, *rows), change.parts)(learnt, *batch)
        updates, state = optimizer.update(grads, state, learnt)
        return optax.apply_updates(learnt, updates), state, loss
    return train_step, (placed(arrays, learnt), placed(arrays, state), placed(arrays, frozen), *batch), (0, 1)


# --- Low-rank additions ---

def llama_lora(layers, width, heads, kv_heads, hidden, vocab, rank, batch, length, kind=BF16):
    """A Llama in bfloat16, layers in a scan; every projection of attention and mlp has an addition."""
    side = width // heads
    sizes = {"wq": (width, width), "wk": (width, kv_heads * side), "wv": (width, kv_heads * side),
             "wo": (width, width), "w_gate": (width, hidden), "w_up": (width, hidden), "w_down": (hidden, width)}

    def make(arrays, change):
        import optax
        b, t, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        frozen = shaped(embed=(vocab, width), lm_head=(width, vocab), norm=(width,), layer_stack={
            name: (layers, *shape) for name, shape in sizes.items()} | {
                "attn_norm": (layers, width), "mlp_norm": (layers, width)})
        lora = shaped(layer_stack={name: {"a": (layers, rows, rank), "b": (layers, rank, columns)}
                                   for name, (rows, columns) in sizes.items()})

        def project(x, name, w, own):
            return x @ w[name] + ((x @ own[name]["a"]) @ own[name]["b"]) * 2.0

        def block(w, own, x):
            h = root_normed(x, w["attn_norm"])
            q = rope(project(h, "wq", w, own).reshape(*x.shape[:2], heads, side), jnp.arange(t), 1e4)
            k = rope(project(h, "wk", w, own).reshape(*x.shape[:2], kv_heads, side), jnp.arange(t), 1e4)
            v = project(h, "wv", w, own).reshape(*x.shape[:2], kv_heads, side)
            k, v = (jnp.repeat(one, heads // kv_heads, 2) for one in (k, v))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * side ** -0.5
            scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e30)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
            x = x + project(mixed.reshape(x.shape), "wo", w, own)
            h = root_normed(x, w["mlp_norm"])
            gated = jax.nn.silu(project(h, "w_gate", w, own)) * project(h, "w_up", w, own)
            return x + project(gated, "w_down", w, own)
        block = maybe_checkpointed(change, block)

        def loss_of(lora, frozen, ids, mask):
            lora, p = as_kind(lora, now), as_kind(frozen, now)
            x, _ = jax.lax.scan(lambda x, both: (block(*both, x), None), p["embed"][ids],
                                (p["layer_stack"], lora["layer_stack"]))
            logits = root_normed(x, p["norm"]) @ p["lm_head"]
            return word_loss(logits[:, :-1], ids[:, 1:], mask[:, 1:].astype(F32))
        rows = arrays.batch((b, t), jnp.int32)
        return tuned(arrays, change, lora, as_kind(frozen, BF16), loss_of, optax.adamw(2e-4, weight_decay=0.01),
                     rows, rows)
    return make


# --- Adapters ---

def adapted_layer(width, heads, hidden, narrow):
    """The class of a layer with two adapters."""
    import equinox as eqx
    linear = eqx.nn.Linear

    class Adapter(eqx.Module):
        down: linear
        up: linear

        def __init__(self, key):
            one, two = jax.random.split(key)
            self.down, self.up = linear(width, narrow, key=one), linear(narrow, width, key=two)

        def __call__(self, x):
            return x + jax.vmap(self.up)(jax.nn.gelu(jax.vmap(self.down)(x)))

    class Layer(eqx.Module):
        query: linear
        key: linear
        value: linear
        output: linear
        up: linear
        down: linear
        adapter_attention: Adapter
        adapter_mlp: Adapter
        norm_attention: eqx.nn.LayerNorm
        norm_mlp: eqx.nn.LayerNorm

        def __init__(self, key):
            keys = jax.random.split(key, 8)
            self.query, self.key, self.value, self.output = (linear(width, width, key=one) for one in keys[:4])
            self.up, self.down = linear(width, hidden, key=keys[4]), linear(hidden, width, key=keys[5])
            self.adapter_attention, self.adapter_mlp = Adapter(keys[6]), Adapter(keys[7])
            self.norm_attention, self.norm_mlp = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)

        def __call__(self, x, mask):
            """Of one text: x [time, width]; mask [time]."""
            q, k, v = (jax.vmap(one)(x).reshape(-1, heads, width // heads)
                       for one in (self.query, self.key, self.value))
            scores = jnp.einsum("qhd,khd->hqk", q, k) * (width // heads) ** -0.5
            weights = jax.nn.softmax(jnp.where(mask > 0, scores, jnp.finfo(scores.dtype).min))
            mixed = jnp.einsum("hqk,khd->qhd", weights, v).reshape(x.shape)
            x = jax.vmap(self.norm_attention)(x + self.adapter_attention(jax.vmap(self.output)(mixed)))
            h = jax.vmap(self.down)(jax.nn.gelu(jax.vmap(self.up)(x), approximate=False))
            return jax.vmap(self.norm_mlp)(x + self.adapter_mlp(h))
    return Layer


def encoder_class(width, heads, hidden, narrow, vocab, places, layers, classes):
    import equinox as eqx
    linear = eqx.nn.Linear
    layer = adapted_layer(width, heads, hidden, narrow)

    class Encoder(eqx.Module):
        words: eqx.nn.Embedding
        places: eqx.nn.Embedding
        norm: eqx.nn.LayerNorm
        layers: list
        classifier_dense: linear
        classifier_out: linear

        def __init__(self, key):
            keys = jax.random.split(key, layers + 4)
            self.words = eqx.nn.Embedding(vocab, width, key=keys[0])
            self.places = eqx.nn.Embedding(places, width, key=keys[1])
            self.norm, self.layers = eqx.nn.LayerNorm(width), [layer(one) for one in keys[4:]]
            self.classifier_dense = linear(width, width, key=keys[2])
            self.classifier_out = linear(width, classes, key=keys[3])
    return Encoder


def roberta_adapters(layers, width, heads, hidden, narrow, vocab, places, classes, batch, length, kind=F32):
    """Two adapters a layer, their norms and the classifier are learnt; the frozen rest is stored like those."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        b, t = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        model = eqx.filter_eval_shape(encoder_class(width, heads, hidden, narrow, vocab, places, layers, classes),
                                      jax.random.key(0))
        is_learnt = jax.tree_util.tree_map_with_path(lambda path, _: any(
            part in jax.tree_util.keystr(path) for part in ("adapter", "norm_", "classifier")), model)
        learnt, frozen = eqx.partition(model, is_learnt)
        run = maybe_checkpointed(change, lambda layer, x, mask: jax.vmap(layer)(x, mask))

        def loss_of(learnt, frozen, ids, mask, labels):
            model = as_kind(eqx.combine(learnt, frozen), now)
            x = model.words.weight[ids] + model.places.weight[:ids.shape[1]]
            x = jax.vmap(jax.vmap(model.norm))(x)
            for layer in model.layers:
                x = run(layer, x, mask)
            pooled = jnp.tanh(jax.vmap(model.classifier_dense)(x[:, 0]))
            return word_loss(jax.vmap(model.classifier_out)(pooled), labels)
        rows = arrays.batch((b, t), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(3e-4), weight_decay=0.05))
        return tuned(arrays, change, learnt, as_kind(frozen, change.stored), loss_of, optimizer, rows, rows,
                     arrays.batch((b,), jnp.int32))
    return make
