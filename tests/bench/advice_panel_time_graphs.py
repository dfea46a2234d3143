"""Loops over time and graphs: LSTMs on words, two-way GRUs on speech, one large graph, many molecules.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_panel_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Words ---

def word_lstm_module(change, layers, width, vocab, key):
    """Of one row of ids, as equinox's modules are; the loss maps it over the batch."""
    import equinox as eqx

    class WordLSTM(eqx.Module):
        embedding: eqx.nn.Embedding
        cells: list
        head: eqx.nn.Linear

        def __init__(self, key):
            first, last, *keys = jax.random.split(key, layers + 2)
            self.embedding = eqx.nn.Embedding(vocab, width, key=first)
            self.cells = [eqx.nn.LSTMCell(width, width, key=k) for k in keys]
            self.head = eqx.nn.Linear(width, vocab, key=last)

        def __call__(self, ids):
            x = jax.vmap(self.embedding)(ids)
            for i, cell in enumerate(self.cells):
                def step(state, x, cell=cell):
                    state = cell(x, state)
                    return state, state[0]
                zeros = jnp.zeros((width,), x.dtype)
                _, y = jax.lax.scan(maybe_checkpointed(change, step), (zeros, zeros), x)
                x = x + y if i else y
            return jax.vmap(self.head)(x)
    return WordLSTM(key)


def word_lstm(layers, width, vocab, batch, length, kind=F32):
    """As wide as its words, with residuals from the second layer on, and a softmax over all words."""
    def make(arrays, change):
        import optax
        b, time = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        shapes = jax.eval_shape(lambda key: word_lstm_module(change, layers, width, vocab, key), jax.random.key(0))

        def loss_of(model, ids, targets):
            return word_loss(jax.vmap(as_kind(model, now))(ids), targets)
        optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.adam(warmed_up(1e-3)))
        ids = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids)
    return make


# --- Speech ---

def deep_speech_net(change, now, layers, width, filters, tokens):
    """Log-spectrograms [batch, time, bins] to logits [batch, time / 2, tokens]."""
    import haiku as hk

    def both_ways(x, i):
        """Time first; the two directions are added, so that each layer is as wide as what it reads."""
        made = []
        for way in ("forward", "backward"):
            core = hk.GRU(width, name=f"gru_{way}_{i}")
            start = as_kind(core.initial_state(x.shape[1]), x.dtype)
            made.append(hk.dynamic_unroll(core, x, start, reverse=way == "backward")[0])
        return made[0] + made[1]

    def run(spectrograms):
        x = spectrograms.astype(now)[..., None]
        for i, (shape, stride) in enumerate((((11, 41), (2, 2)), ((11, 21), (1, 2)))):
            x = hk.Conv2D(filters, shape, stride, name=f"conv_{i}")(x)
            x = hk.LayerNorm(-1, True, True, name=f"conv_norm_{i}")(x)
            x = jnp.clip(x, 0, 20)
        x = hk.Linear(width, name="enter")(x.reshape(*x.shape[:2], -1)).swapaxes(0, 1)
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
        for i in range(layers):
            layer = hk.remat(both_ways, policy=policy, static_argnums=1) if change.rematerialize else both_ways
            x = hk.LayerNorm(-1, True, True, name=f"norm_{i}")(layer(x, i))
        x = jax.nn.relu(hk.Linear(width, name="top")(x))
        return hk.Linear(tokens, name="logits")(x).swapaxes(0, 1)
    return hk.without_apply_rng(hk.transform(run))


def deep_speech(layers, width, bins, filters, tokens, frames, said, batch, kind=BF16):
    """Two convolutions, two-way GRUs, and CTC over pieces of words."""
    def make(arrays, change):
        import optax
        b = batch // change.batch_divisor
        time, most = frames // change.length_divisor, said // change.length_divisor
        now = computed(change, kind)
        net = deep_speech_net(change, now, layers, width, filters, tokens)
        shapes = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, time, bins)))

        def loss_of(params, spectrograms, lengths, labels, label_lengths):
            logits = net.apply(as_kind(params, now), spectrograms).astype(F32)
            padded = jnp.arange(logits.shape[1]) >= lengths[:, None] // 2
            none = jnp.arange(most) >= label_lengths[:, None]
            losses = optax.ctc_loss(logits, padded.astype(F32), labels, none.astype(F32))
            return jnp.mean(losses / jnp.maximum(label_lengths, 1))
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(warmed_up(5e-4), weight_decay=1e-5))
        count = arrays.batch((b,), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((b, time, bins), F32), count,
                                arrays.batch((b, most), jnp.int32), count)
    return make


# --- Graphs ---

def layer_norm(x, p):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * p["scale"] + p["bias"]


# --- One graph ---

def segment_softmax(logits, segments, count):
    top = jax.ops.segment_max(logits, segments, count)
    weights = jnp.exp(logits - jax.lax.stop_gradient(top)[segments])
    return weights / (jax.ops.segment_sum(weights, segments, count)[segments] + 1e-9)


def citations_gat(layers, heads, side, features, classes, nodes, edges, kind=F32):
    """A GAT on all papers at once: each looks at those it cites; residuals and norms between layers."""
    width = heads * side

    def make(arrays, change):
        import optax
        now = change.computed or computed(change, kind)
        norm = {"scale": (width,), "bias": (width,)}
        shapes = shaped(
            encoder={"w": (features, width), "b": (width,)}, decoder={"w": (width, classes), "b": (classes,)},
            **{f"gat_{i}": {"w": (width, width), "w_skip": (width, width), "a_src": (heads, side),
                            "a_dst": (heads, side), "b": (width,), "norm": norm} for i in range(layers)})

        def gat(p, x, senders, receivers):
            h = (layer_norm(x, p["norm"]) @ p["w"]).reshape(nodes, heads, side)
            source, target = (h * p["a_src"]).sum(-1), (h * p["a_dst"]).sum(-1)
            logits = jax.nn.leaky_relu(source[senders] + target[receivers], 0.2)
            attention = segment_softmax(logits, receivers, nodes)
            messages = h[senders] * attention[..., None]
            gathered = jax.ops.segment_sum(messages, receivers, nodes)
            return jax.nn.elu(gathered.reshape(nodes, width) + x @ p["w_skip"] + p["b"])

        def loss_of(params, x, senders, receivers, labels, mask):
            p = as_kind(params, now)
            layer = maybe_checkpointed(change, gat)
            x = jax.nn.elu(x.astype(now) @ p["encoder"]["w"] + p["encoder"]["b"])
            for i in range(layers):
                x = layer(p[f"gat_{i}"], x, senders, receivers)
            return word_loss(x @ p["decoder"]["w"] + p["decoder"]["b"], labels, mask.astype(F32))
        optimizer = optax.adamw(2e-3, weight_decay=5e-4, mask=matrices_only)
        ends = arrays.batch((edges,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((nodes, features), F32), ends, ends,
                       arrays.batch((nodes,), jnp.int32), arrays.batch((nodes,), jnp.bool_))
    return make


# --- Molecules ---

def molecules_gn(layers, width, hidden, graphs, atoms, bonds, kind=BF16):
    """Bonds, atoms and whole molecules have states, each made of all; layers in a scan; one figure a molecule."""
    def mlp(enters, lead=()):
        return {"w1": (*lead, enters, hidden), "b1": (*lead, hidden), "w2": (*lead, hidden, width),
                "b2": (*lead, width), "norm": {"scale": (*lead, width), "bias": (*lead, width)}}

    def run(p, *inputs):
        x = jnp.concatenate(inputs, -1)
        return layer_norm(jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"], p["norm"])

    def make(arrays, change):
        import optax
        g, now = graphs // change.batch_divisor, computed(change, kind)
        n, e = g * atoms, g * bonds
        shapes = shaped(
            atom_table=(9, 120, width), bond_table=(3, 8, width), global_table=(1, width),
            processor_scanned={"edge": mlp(4 * width, (layers,)), "node": mlp(4 * width, (layers,)),
                               "global": mlp(3 * width, (layers,))},
            readout={"w1": (2 * width, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)})

        def step(state, p, senders, receivers, of_node, of_edge):
            nodes, edges, globals_ = state
            edges = edges + run(p["edge"], edges, nodes[senders], nodes[receivers], globals_[of_edge])
            sent = jax.ops.segment_sum(edges, senders, n)
            received = jax.ops.segment_sum(edges, receivers, n)
            nodes = nodes + run(p["node"], nodes, sent, received, globals_[of_node])
            globals_ = globals_ + run(p["global"], globals_, jax.ops.segment_sum(nodes, of_node, g),
                                      jax.ops.segment_sum(edges, of_edge, g))
            return nodes, edges, globals_

        def loss_of(params, atom_ids, bond_ids, senders, receivers, of_node, of_edge, targets, mask):
            p = as_kind(params, now)
            nodes = sum(p["atom_table"][i][atom_ids[:, i]] for i in range(9))
            edges = sum(p["bond_table"][i][bond_ids[:, i]] for i in range(3))
            state = nodes, edges, jnp.broadcast_to(p["global_table"], (g, width))
            block = maybe_checkpointed(change, step)
            (nodes, _, globals_), _ = jax.lax.scan(
                lambda state, p: (block(state, p, senders, receivers, of_node, of_edge), None), state,
                p["processor_scanned"])
            pooled = jnp.concatenate([jax.ops.segment_sum(nodes, of_node, g), globals_], -1)
            head = p["readout"]
            made = (jax.nn.relu(pooled @ head["w1"] + head["b1"]) @ head["w2"] + head["b2"])[:, 0].astype(F32)
            return jnp.sum(jnp.abs(made - targets.astype(F32)) * mask) / jnp.maximum(mask.sum(), 1)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warmed_up(3e-4)))
        of_node, of_edge = arrays.batch((n,), jnp.int32), arrays.batch((e,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((n, 9), jnp.int32),
                       arrays.batch((e, 3), jnp.int32), of_edge, of_edge, of_node, of_edge, arrays.batch((g,), F32),
                       arrays.batch((g,), jnp.bool_))
    return make
