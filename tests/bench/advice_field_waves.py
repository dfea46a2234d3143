"""Graphs, atoms and waves: sums over neighbours, forces as slopes of an energy, shots that are followed through time.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, trained
from advice_fresh import graded, maybe_checkpointed, shaped
from advice_structures import F32


def dense(rows, columns):
    return {"w": (rows, columns), "b": (columns,)}


def through(p, x):
    return x @ p["w"] + p["b"]


# --- One graph, several ways to sum ---

def aggregated_proteins(rounds, nodes, edges, features, width, tasks, kind=F32):
    """PNA on one graph whose edges have features: mean, most, least and spread of messages, each at three scales.

    Half of its batch would be another graph.
    """
    one = {"message": dense(3 * width, width), "update": dense(13 * width, width), "edge": dense(features, width),
           "gain": (width,), "shift": (width,)}

    def make(arrays, change):
        import optax
        now = computed(change, kind)

        def summed(messages, to, degree):
            def total(x):
                return jax.ops.segment_sum(x, to, nodes)
            mean = total(messages) / degree
            spread = jnp.sqrt(jax.nn.relu(total(messages * messages) / degree - mean * mean) + 1e-5)
            most = jax.ops.segment_max(messages, to, nodes)
            least = -jax.ops.segment_max(-messages, to, nodes)
            most, least = (jnp.where(jnp.isfinite(x), x, 0) for x in (most, least))
            return jnp.concatenate([mean, spread, most, least], -1)

        def round_of(p, h, edge, senders, receivers, degree):
            told = jnp.concatenate([h[senders], h[receivers], through(p["edge"], edge)], -1)
            messages = jax.nn.relu(through(p["message"], told))
            found = summed(messages, receivers, degree)
            scale = jnp.log(degree + 1) / 3.5
            new = through(p["update"], jnp.concatenate([h, found, found * scale, found / scale], -1))
            new = (new - new.mean(0)) * jax.lax.rsqrt(new.var(0) + 1e-5) * p["gain"] + p["shift"]
            return h + jax.nn.relu(new)

        def loss_fn(params, edge, senders, receivers, labels, is_known):
            p, edge = as_kind(params, now), edge.astype(now)
            degree = jnp.maximum(jax.ops.segment_sum(jnp.ones((edges, 1), now), receivers, nodes), 1)
            h = through(p["enter"], jax.ops.segment_sum(edge, receivers, nodes) / degree)
            for i in range(rounds):
                h = maybe_checkpointed(change, round_of)(p[f"round_{i}"], h, edge, senders, receivers, degree)
            losses = optax.sigmoid_binary_cross_entropy(through(p["leave"], h).astype(F32), labels.astype(F32))
            known = is_known.astype(F32)
            return jnp.sum(losses.mean(-1) * known) / jnp.sum(known)
        shapes = shaped(enter=dense(features, width), leave=dense(width, tasks),
                        **{f"round_{i}": one for i in range(rounds)})
        ends = arrays.batch((edges,), jnp.int32)
        return trained(arrays, change, shapes, loss_fn, optax.adamw(1e-3, weight_decay=1e-5),
                       arrays.batch((edges, features), F32), ends, ends, arrays.batch((nodes, tasks), jnp.uint8),
                       arrays.batch((nodes,), jnp.bool_))
    return make


# --- Molecules of a batch, joined ---

def bonds_of_molecules(depth, width, atom_features, bond_features, atoms, bonds, targets, batch, kind=F32):
    """Chemprop's D-MPNN: a bond each way has a state, told by all bonds into its start but its own way back.

    Every turn has the same weights; molecules have atoms and bonds in the mean, and are told apart by number.
    """
    def make(arrays, change):
        import optax
        size, now = batch // change.batch_divisor, computed(change, kind)
        n_atoms, n_bonds = size * atoms, size * bonds

        def turn(w, states, first, start, end, back):
            at_atoms = jax.ops.segment_sum(states, end, n_atoms)
            return jax.nn.relu(first + (at_atoms[start] - states[back]) @ w)

        def loss_fn(params, atom, bond, start, end, back, molecule, wanted, is_measured):
            p, atom = as_kind(params, now), atom.astype(now)
            first = jnp.concatenate([atom[start], bond.astype(now)], -1) @ p["W_i"]
            states = jax.nn.relu(first)
            for _ in range(depth - 1):
                states = maybe_checkpointed(change, turn)(p["W_h"], states, first, start, end, back)
            at_atoms = jax.ops.segment_sum(states, end, n_atoms)
            hidden = jax.nn.relu(through(p["W_o"], jnp.concatenate([atom, at_atoms], -1)))
            whole = jax.ops.segment_sum(hidden, molecule, size) / 100
            made = through(p["ffn_2"], jax.nn.relu(through(p["ffn_1"], whole))).astype(F32)
            losses = optax.sigmoid_binary_cross_entropy(made, wanted.astype(F32)) * is_measured
            return losses.sum() / jnp.maximum(is_measured.sum(), 1)
        shapes = shaped(W_i=(atom_features + bond_features, width), W_h=(width, width),
                        W_o=dense(atom_features + width, width), ffn_1=dense(width, width), ffn_2=dense(width, targets))
        rate = optax.warmup_exponential_decay_schedule(1e-4, 1e-3, 400, 8000, 0.1)
        ends = arrays.batch((n_bonds,), jnp.int32)
        return trained(arrays, change, shapes, loss_fn, optax.adam(rate), arrays.batch((n_atoms, atom_features), F32),
                       arrays.batch((n_bonds, bond_features), F32), ends, ends, ends,
                       arrays.batch((n_atoms,), jnp.int32), arrays.batch((size, targets), jnp.uint8),
                       arrays.batch((size, targets), jnp.bool_))
    return make


# --- Forces of molecules by their neighbours ---

def deep_potential(embedding, axis, fitting, species, atoms, neighbours, batch, kind=F32):
    """DeePMD: what is near an atom becomes a matrix no turn changes; energies and forces are fitted at once.

    Forces are slopes of the energy, so that the loss has slopes of slopes.
    """
    def make(arrays, change):
        import optax
        size, now = batch // change.batch_divisor, computed(change, kind)
        widths = (1, *embedding)

        def surroundings(p, away, kinds):
            """away [atom, neighbour, 3] -> [atom, features]."""
            far = jnp.sqrt(jnp.sum(away * away, -1, keepdims=True) + 1e-6)
            u = jnp.clip((far - 0.5) / 5.5, 0, 1)
            near = (u ** 3 * (-6 * u ** 2 + 15 * u - 10) + 1) / far
            local = jnp.concatenate([near, near * away / far], -1)
            x = near
            for i, wide in enumerate(widths[1:]):
                grown = jnp.tanh(through(p[f"filter_{i}"], x) + p["of_kind"][f"kind_{i}"][kinds])
                x = grown + (jnp.concatenate([x, x], -1) if 2 * x.shape[-1] == wide else 0)
            mixed = jnp.einsum("ank,anf->afk", local, x) / neighbours
            return jnp.einsum("afk,agk->afg", mixed, mixed[:, :axis]).reshape(away.shape[0], -1)

        def energy(p, places, kinds, near, cell):
            away = places[near] - places[:, None]
            away = away - cell * jnp.round(away / cell)
            x = maybe_checkpointed(change, surroundings)(p, away, kinds[near])
            for i in range(len(fitting)):
                grown = jnp.tanh(through(p[f"fit_{i}"], x))
                x = grown + x if grown.shape == x.shape else grown
            return jnp.sum(through(p["energy"], x)[:, 0] + p["bias"][kinds])

        def loss_fn(params, places, kinds, near, cells, energies, forces):
            p = as_kind(params, now)
            of_one = jax.value_and_grad(energy, argnums=1)
            made, slopes = jax.vmap(of_one, (None, 0, 0, 0, 0))(p, places.astype(now), kinds, near, cells.astype(now))
            wrong = jnp.square((made.astype(F32) - energies.astype(F32)) / atoms).mean()
            return 0.02 * wrong + jnp.square(slopes.astype(F32) + forces.astype(F32)).mean()
        deep = (embedding[-1] * axis, *fitting)
        shapes = shaped(energy=dense(fitting[-1], 1), bias=(species,),
                        of_kind={f"kind_{i}": (species, wide) for i, wide in enumerate(embedding)},
                        **{f"filter_{i}": dense(*both) for i, both in enumerate(zip(widths, embedding))},
                        **{f"fit_{i}": dense(*both) for i, both in enumerate(zip(deep, fitting))})
        optimizer = optax.adam(optax.exponential_decay(1e-3, 5000, 0.95))
        places = arrays.batch((size, atoms, 3), F32)
        return trained(arrays, change, shapes, loss_fn, optimizer, places, arrays.batch((size, atoms), jnp.int32),
                       arrays.batch((size, atoms, neighbours), jnp.int32), arrays.batch((size, 3), F32),
                       arrays.batch((size,), F32), places)
    return make


# --- What lies below, by the waves of many shots ---

def heard_waves(depth, across, steps, each, receivers, shots, kind=F32):
    """Full waveform inversion: a wave equation, fourth order in place, in parts of `each` steps; Adam moves speeds.

    What is rematerialized is a part of all steps. The border swallows waves.
    """
    def make(arrays, change):
        import optax
        size, now, time = shots // change.batch_divisor, computed(change, kind), steps // change.length_divisor

        def bent(u):
            u = jnp.pad(u, ((0, 0), (2, 2), (2, 2)))
            high, wide = u[:, :, 2:-2], u[:, 2:-2]

            def second(x, n, axis):
                def cut(i):
                    return jax.lax.slice_in_dim(x, i, i + n, axis=axis)
                return (16 * (cut(1) + cut(3)) - cut(0) - cut(4) - 30 * cut(2)) / 12
            return second(high, depth, 1) + second(wide, across, 2)

        def border():
            def edge(n):
                place = jnp.arange(n)
                return jnp.exp(-jnp.square(0.015 * jax.nn.relu(40 - jnp.minimum(place, n - 1 - place)).astype(F32)))
            return (edge(depth)[:, None] * edge(across)).astype(now)

        def loss_fn(params, sources, wavelet, heard):
            speed, fade = as_kind(params, now)["speed"], border()
            square = jnp.square(speed * 0.2)
            wavelet = wavelet.astype(now)
            spots = jnp.linspace(40, across - 41, receivers).astype(jnp.int32)

            def step(fields, force):
                before, u = fields
                after = 2 * u - before + square * bent(u)
                after = after.at[jnp.arange(sources.shape[0]), 42, sources].add(force)
                return (u * fade, after * fade), after[:, 44, spots]

            def part(fields, forces):
                return jax.lax.scan(step, fields, forces)
            still = jnp.zeros((sources.shape[0], depth, across), now)
            _, made = jax.lax.scan(maybe_checkpointed(change, part), (still, still), wavelet.reshape(-1, each))
            made = made.reshape(time, -1, receivers).swapaxes(0, 1)
            return jnp.mean(jnp.square(made.astype(F32) - heard.astype(F32)))

        def invert(params, state, sources, wavelet, heard):
            of_shots = graded(lambda p, some, told: loss_fn(p, some, wavelet, told), change.parts)
            loss, grads = of_shots(params, sources, heard)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        params, optimizer = as_kind(shaped(speed=(depth, across)), change.stored), optax.adam(5.0)
        state = jax.eval_shape(optimizer.init, params)
        arguments = (placed(arrays, params), placed(arrays, state), arrays.batch((size,), jnp.int32),
                     arrays.array((time,), change.stored), arrays.batch((size, time, receivers), F32))
        return invert, arguments, (0, 1)
    return make
