"""Models built of the layers of flax, haiku, equinox and jraph; advice_exam_libraries.py has those of transformers.

Each maker takes its Arrays and Change, and gives (step, arguments, donated). Layers that compute in what they are given
get their parameters cast, as jmp and equinox's users do.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, random_key, trained,
                                   warmed_up, word_loss)
from advice_structures import BF16, F32


# --- flax, linen ---

def scanned_decoder(layers, width, heads, hidden, vocabulary, batch, length, parts=4, kind=BF16):
    """nn.scan over layers that are nn.remat's; gradients of some calls are summed before parameters move."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}

        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, mask):
                def dense(size):
                    return nn.Dense(size, use_bias=False, **kinds)
                h = nn.RMSNorm(**kinds)(x)
                x = x + nn.MultiHeadDotProductAttention(heads, use_bias=False, **kinds)(h, mask=mask)
                h = nn.RMSNorm(**kinds)(x)
                gated = nn.silu(dense(hidden)(h)) * dense(hidden)(h)
                return x + dense(width)(gated), None

        class Decoder(nn.Module):
            @nn.compact
            def __call__(self, ids):
                embed = nn.Embed(vocabulary, width, **kinds)
                block = nn.remat(Block, prevent_cse=False) if change.rematerialize else Block
                scanned = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, length=layers,
                                  in_axes=nn.broadcast)
                x, _ = scanned(name="scanned")(embed(ids), nn.make_causal_mask(ids))
                return embed.attend(nn.RMSNorm(**kinds)(x))

        model, ids = Decoder(), arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))["params"]

        def loss_of(params, ids):
            return next_word_loss(model.apply({"params": params}, ids), ids)
        optimizer = optax.MultiSteps(clipped_adamw(), every_k_schedule=parts)
        return trained(arrays, change, shapes, loss_of, optimizer, ids)
    return make


def words_over_time(layers, width, vocabulary, batch, length, kind=F32):
    """LSTMs by nn.RNN, with dropout between them."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}
        cell = nn.remat(nn.OptimizedLSTMCell) if change.rematerialize else nn.OptimizedLSTMCell

        class Words(nn.Module):
            @nn.compact
            def __call__(self, ids, train=True):
                x = nn.Embed(vocabulary, width, **kinds)(ids)
                for _ in range(layers):
                    made = nn.RNN(cell(width, **kinds))(x)
                    x = x + nn.Dropout(0.2, deterministic=not train)(made)
                return nn.Dense(vocabulary, **kinds)(nn.LayerNorm(**kinds)(x))

        model, ids = Words(), arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        shapes = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 8), jnp.int32), False))["params"]

        def loss_of(params, ids, key):
            return next_word_loss(model.apply({"params": params}, ids, rngs={"dropout": key}), ids)
        optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.sgd(1.0, momentum=0.9))
        return trained(arrays, change, shapes, loss_of, optimizer, ids, random_key(arrays))
    return make


# --- flax, nnx ---

def noise_of_pictures(widths, side, batch, groups=8, kind=F32):
    """A U-net of nnx that tells noise from picture, by how long the noise was added."""
    def make(arrays, change):
        import optax
        from flax import nnx
        kinds, time = {"dtype": computed(change, kind)}, 4 * widths[0]

        class Residual(nnx.Module):
            def __init__(self, before, width, rngs):
                self.norm1 = nnx.GroupNorm(before, num_groups=groups, rngs=rngs, **kinds)
                self.conv1 = nnx.Conv(before, width, (3, 3), rngs=rngs, **kinds)
                self.time = nnx.Linear(time, width, rngs=rngs, **kinds)
                self.norm2 = nnx.GroupNorm(width, num_groups=groups, rngs=rngs, **kinds)
                self.conv2 = nnx.Conv(width, width, (3, 3), rngs=rngs, **kinds)
                self.skip_conv = nnx.Conv(before, width, (1, 1), rngs=rngs, **kinds)

            def __call__(self, x, time):
                h = self.conv1(nnx.silu(self.norm1(x))) + self.time(nnx.silu(time))[:, None, None]
                return self.skip_conv(x) + self.conv2(nnx.silu(self.norm2(h)))

        class Network(nnx.Module):
            def __init__(self, rngs):
                pairs = list(zip((widths[0], *widths), widths))
                self.time = nnx.Linear(widths[0], time, rngs=rngs, **kinds)
                self.enter_conv = nnx.Conv(3, widths[0], (3, 3), rngs=rngs, **kinds)
                self.down = nnx.List([Residual(before, width, rngs) for before, width in pairs])
                self.shrink_conv = nnx.List([nnx.Conv(width, width, (3, 3), 2, rngs=rngs, **kinds) for width in widths])
                self.middle = Residual(widths[-1], widths[-1], rngs)
                self.grow_conv = nnx.List([nnx.ConvTranspose(width, width, (2, 2), 2, rngs=rngs, **kinds)
                                           for width in widths])
                self.up = nnx.List([Residual(2 * width, before, rngs) for before, width in pairs])
                self.leave_conv = nnx.Conv(widths[0], 3, (3, 3), rngs=rngs, **kinds)

            def __call__(self, x, when):
                def residual(block, x):
                    return (nnx.remat(Residual.__call__) if change.rematerialize else Residual.__call__)(block, x, time)
                angles = when[:, None] * jnp.exp(-9.2 * jnp.arange(widths[0] // 2) / (widths[0] // 2))
                time = self.time(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))
                x, kept = self.enter_conv(x), []
                for block, shrink in zip(self.down, self.shrink_conv):
                    kept.append(residual(block, x))
                    x = shrink(kept[-1])
                x = residual(self.middle, x)
                for block, grow, way in reversed(list(zip(self.up, self.grow_conv, kept))):
                    x = residual(block, jnp.concatenate([grow(x), way], -1))
                return self.leave_conv(x)

        graph, shapes = nnx.split(nnx.eval_shape(lambda: Network(nnx.Rngs(0))))
        size = batch // change.batch_divisor

        def loss_of(params, pictures, noise, when):
            share = jnp.cos(1.57 * when)[:, None, None, None]
            mixed = share * pictures + jnp.sqrt(1 - share ** 2) * noise
            made = nnx.merge(graph, params)(mixed, 1000 * when)
            return jnp.mean(jnp.square(made.astype(F32) - noise))
        pictures = arrays.batch((size, side, side, 3), F32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warmed_up(2e-4)))
        return trained(arrays, change, shapes, loss_of, optimizer, pictures, pictures, arrays.batch((size,), F32))
    return make


# --- haiku ---

def plain_decoder(layers, width, heads, hidden, vocabulary, batch, length, stacked=False, kind=F32):
    """haiku's own example of a transformer, by Lion; `stacked` as its layer_stack has it."""
    def make(arrays, change):
        import haiku as hk
        import optax

        def norm():
            return hk.LayerNorm(-1, create_scale=True, create_offset=True)

        def block(x):
            small = hk.initializers.VarianceScaling(2 / layers)
            mask = jnp.tril(jnp.ones((1, 1, length, length)))
            h = norm()(x)
            attended = hk.MultiHeadAttention(heads, width // heads, model_size=width, w_init=small)(h, h, h, mask=mask)
            x = x + hk.dropout(hk.next_rng_key(), 0.1, attended)
            inner = jax.nn.gelu(hk.Linear(hidden, w_init=small)(norm()(x)))
            return x + hk.dropout(hk.next_rng_key(), 0.1, hk.Linear(width, w_init=small)(inner))

        def forward(ids):
            one = hk.remat(block) if change.rematerialize else block
            x = hk.Embed(vocabulary, width)(ids)
            x = x + hk.get_parameter("positions", (length, width), x.dtype, init=hk.initializers.TruncatedNormal(0.02))
            if stacked:
                x = hk.experimental.layer_stack(layers)(one)(x)
            for _ in range(0 if stacked else layers):
                x = one(x)
            return hk.Linear(vocabulary)(norm()(x))

        net, ids = hk.transform(forward), arrays.batch((batch // change.batch_divisor, length), jnp.int32)
        shapes = jax.eval_shape(net.init, jax.random.key(0), jax.ShapeDtypeStruct((1, length), jnp.int32))

        def loss_of(params, ids, key):
            return next_word_loss(net.apply(as_kind(params, computed(change, kind)), key, ids), ids)
        optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.lion(warmed_up(1e-4), weight_decay=0.1))
        return trained(arrays, change, shapes, loss_of, optimizer, ids, random_key(arrays))
    return make


# --- equinox ---

def vision_transformer(layers, width, heads, hidden, places, patch, classes):
    """A module for one image, given how to run a block."""
    import equinox as eqx

    class Block(eqx.Module):
        attention: eqx.nn.MultiheadAttention
        mlp: eqx.nn.MLP
        norms: list

        def __init__(self, key):
            self.attention = eqx.nn.MultiheadAttention(heads, width, key=key)
            self.mlp = eqx.nn.MLP(width, width, hidden, 1, jax.nn.gelu, key=key)
            self.norms = [eqx.nn.LayerNorm(width) for _ in range(2)]

        def __call__(self, x):
            h = jax.vmap(self.norms[0])(x)
            x = x + self.attention(h, h, h)
            return x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))

    class Transformer(eqx.Module):
        patches: eqx.nn.Conv2d
        places: jax.Array
        blocks: list
        norm: eqx.nn.LayerNorm
        head: eqx.nn.Linear

        def __init__(self, key):
            self.patches = eqx.nn.Conv2d(3, width, patch, patch, key=key)
            self.places = jax.random.normal(key, (places, width))
            self.blocks = [Block(one) for one in jax.random.split(key, layers)]
            self.norm, self.head = eqx.nn.LayerNorm(width), eqx.nn.Linear(width, classes, key=key)

        def __call__(self, image, run):
            x = self.patches(image).reshape(width, -1).T + self.places
            for block in self.blocks:
                x = run(block)(x)
            return self.head(self.norm(x.mean(0)))
    return Transformer


def patched_images(layers, width, heads, hidden, side, patch, batch, classes=1000, kind=F32):
    """A vision transformer, over whose images vmap goes."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        network = vision_transformer(layers, width, heads, hidden, (side // patch) ** 2, patch, classes)
        whole = eqx.filter_eval_shape(network, jax.random.key(0))
        shapes, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        run = eqx.filter_checkpoint if change.rematerialize else lambda block: block
        size = batch // change.batch_divisor

        def loss_of(params, images, labels):
            model = eqx.combine(as_kind(params, computed(change, kind)), static)
            images = images.astype(computed(change, kind))
            return word_loss(jax.vmap(lambda image: model(image, run))(images), labels)
        optimizer = optax.adamw(warmed_up(1e-3), weight_decay=0.05, mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((size, 3, side, side), F32),
                       arrays.batch((size,), jnp.int32))
    return make


# --- jraph ---

def molecules(rounds, width, atoms, bonds, batch, kind=F32):
    """Graphs in one, as jraph.batch makes and pads them; networks of edges, nodes and graphs by haiku."""
    def make(arrays, change):
        import haiku as hk
        import jraph
        import optax
        size = batch // change.batch_divisor

        def updated(name):
            def update(*inputs):
                mlp = hk.nets.MLP([2 * width, width], activation=jax.nn.silu, name=name)
                norm = hk.LayerNorm(-1, create_scale=True, create_offset=True, name=f"{name}_norm")
                return norm(mlp(jnp.concatenate(inputs, -1)))
            return update

        def forward(graph):
            graph = jraph.GraphMapFeatures(hk.Linear(width), hk.Linear(width), hk.Linear(width))(graph)
            for round_ in range(rounds):
                network = jraph.GraphNetwork(updated(f"edges_{round_}"), updated(f"nodes_{round_}"),
                                             updated(f"graphs_{round_}"))
                made = (hk.remat(network) if change.rematerialize else network)(graph)
                graph = made._replace(nodes=graph.nodes + made.nodes, edges=graph.edges + made.edges,
                                      globals=graph.globals + made.globals)
            return hk.Linear(128)(graph.globals)

        graph = jraph.GraphsTuple(
            nodes=arrays.batch((size * atoms, 40), F32), edges=arrays.batch((size * bonds, 12), F32),
            senders=arrays.batch((size * bonds,), jnp.int32), receivers=arrays.batch((size * bonds,), jnp.int32),
            globals=arrays.batch((size, 8), F32), n_node=arrays.batch((size,), jnp.int32),
            n_edge=arrays.batch((size,), jnp.int32))
        labels, net = arrays.batch((size, 128), F32), hk.without_apply_rng(hk.transform(forward))

        def loss_of(params, graph, labels):
            params, graph = (as_kind(tree, computed(change, kind)) for tree in (params, graph))
            losses = optax.sigmoid_binary_cross_entropy(net.apply(params, graph).astype(F32), jnp.maximum(labels, 0))
            known = labels >= 0
            return jnp.sum(jnp.where(known, losses, 0.0)) / jnp.sum(known)
        shapes = as_kind(jax.eval_shape(net.init, jax.random.key(0), graph), F32)
        return trained(arrays, change, shapes, loss_of, optax.adam(1e-3), graph, labels)
    return make
