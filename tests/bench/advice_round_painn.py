"""PaiNN learns energies and forces of small molecules (as in SPICE), many of them joined in one graph.

In haiku. Scalars and vectors on atoms, messages over pairs nearer than 5 A, sums by jax.ops.segment_sum; forces are
the gradient by the positions, so that the step differentiates twice. All in float32.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

ELEMENTS = 100


class Linear(hk.Module):
    def __init__(self, size, bias=True, name=None):
        super().__init__(name=name)
        self.size, self.bias = size, bias

    def __call__(self, x):
        w = hk.get_parameter("w", (x.shape[-1], self.size), F32, hk.initializers.VarianceScaling(1.0, "fan_avg"))
        y = x @ w.astype(x.dtype)
        return y + hk.get_parameter("b", (self.size,), F32, jnp.zeros).astype(x.dtype) if self.bias else y


def mlp(hidden, out, name):
    return hk.Sequential([Linear(hidden, name=f"{name}_0"), jax.nn.silu, Linear(out, name=f"{name}_1")])


def bessel_like(distance, count, cutoff):
    n = jnp.arange(1, count + 1)
    return jnp.sin(n * jnp.pi * distance[:, None] / cutoff) / distance[:, None]


def cosine_cutoff(distance, cutoff):
    return jnp.where(distance < cutoff, 0.5 * (jnp.cos(jnp.pi * distance / cutoff) + 1.0), 0.0)


class Interaction(hk.Module):
    def __init__(self, features, name):
        super().__init__(name=name)
        self.features = features

    def __call__(self, s, v, radial, window, direction, senders, receivers):
        f, atoms = self.features, s.shape[0]
        phi = mlp(f, 3 * f, "context")(s)
        filters = Linear(3 * f, name="filter")(radial) * window
        ds, dv_r, dv_v = jnp.split(phi[senders] * filters, 3, axis=-1)
        dv = dv_r[:, None, :] * direction[:, :, None] + dv_v[:, None, :] * v[senders]
        return (s + jax.ops.segment_sum(ds, receivers, num_segments=atoms),
                v + jax.ops.segment_sum(dv, receivers, num_segments=atoms))


class Mixing(hk.Module):
    def __init__(self, features, name):
        super().__init__(name=name)
        self.features = features

    def __call__(self, s, v):
        f = self.features
        left, right = jnp.split(Linear(2 * f, bias=False, name="channels")(v), 2, axis=-1)
        length = jnp.sqrt(jnp.sum(left ** 2, axis=1) + 1e-8)
        a_ss, a_vv, a_sv = jnp.split(mlp(f, 3 * f, "update")(jnp.concatenate([s, length], axis=-1)), 3, axis=-1)
        return s + a_ss + a_sv * jnp.sum(left * right, axis=1), v + a_vv[:, None, :] * right


def painn(layers, features, radials, cutoff, now, change):
    def energies(positions, species, senders, receivers, molecule, molecules):
        offset = positions[senders] - positions[receivers]
        distance = jnp.sqrt(jnp.sum(offset ** 2, axis=-1) + 1e-12)
        direction = (offset / distance[:, None]).astype(now)
        radial = bessel_like(distance, radials, cutoff).astype(now)
        window = cosine_cutoff(distance, cutoff)[:, None].astype(now)

        s = hk.Embed(ELEMENTS, features, name="species")(species).astype(now)
        v = jnp.zeros((s.shape[0], 3, features), now)
        for i in range(layers):
            message, mix = Interaction(features, f"interaction_{i}"), Mixing(features, f"mixing_{i}")

            def block(s, v, message=message, mix=mix):
                return mix(*message(s, v, radial, window, direction, senders, receivers))
            s, v = (hk.remat(block, policy=checkpoint_policy(change)) if change.rematerialize else block)(s, v)

        per_atom = mlp(features // 2, 1, "readout")(s)[:, 0].astype(F32)
        shift = hk.get_parameter("atom_energy", (ELEMENTS,), F32, jnp.zeros)[species]
        return jax.ops.segment_sum(per_atom + shift.astype(F32), molecule, num_segments=molecules)
    return hk.without_apply_rng(hk.transform(energies))


def painn_forces(layers, features, radials, cutoff, batch, atoms_each, neighbours, kind=F32):
    def make(arrays, change):
        molecules = batch // change.batch_divisor
        atoms = molecules * atoms_each
        pairs = atoms * neighbours
        model = painn(layers, features, radials, cutoff, compute_dtype(change, kind), change)
        few = jnp.zeros((4,), jnp.int32)
        params = jax.eval_shape(lambda key: model.init(key, jnp.zeros((4, 3)), few, few, few, few, 1),
                                jax.random.PRNGKey(0))
        params = cast(params, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0),
                                optax.amsgrad(optax.cosine_decay_schedule(5e-4, 500_000)))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, _, graph, energy, forces):
            positions = graph["positions"].astype(F32)
            count, size = energy.shape[0], positions.shape[0]
            index = [graph["senders"], graph["receivers"], graph["molecule"]]
            if change.parts > 1:  # joined anew in each part
                index = [index[0] % size, index[1] % size, index[2] % count]

            def total(positions):
                each = model.apply(params, positions, graph["species"], *index, count)
                return each.sum(), each
            slopes, found = jax.grad(total, has_aux=True)(positions)
            energy_loss = jnp.mean((found - energy.astype(F32)) ** 2)
            force_loss = jnp.mean(jnp.sum((-slopes - forces.astype(F32)) ** 2, axis=-1))
            mae = jnp.mean(jnp.abs(found - energy)), jnp.mean(jnp.abs(slopes + forces))
            return 0.05 * energy_loss + 0.95 * force_loss, mae

        def train_step(params, opt_state, graph, energy, forces):
            loss, mae, grads = summed_slopes(loss_of, change.parts)(params, None, graph, energy, forces)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, "energy_mae": mae[0].mean(), "force_mae": mae[1].mean()}

        graph = dict(positions=arrays.batch((atoms, 3), F32), species=arrays.batch((atoms,), jnp.int32),
                     senders=arrays.batch((pairs,), jnp.int32), receivers=arrays.batch((pairs,), jnp.int32),
                     molecule=arrays.batch((atoms,), jnp.int32))
        arguments = (laid_out(arrays, params), laid_out(arrays, opt_state), graph, arrays.batch((molecules,), F32),
                     arrays.batch((atoms, 3), F32))
        return train_step, arguments, (0, 1)
    return make


FAMILY = {"round_painn": dict(
    make=painn_forces(layers=3, features=128, radials=20, cutoff=5.0, batch=512, atoms_each=28, neighbours=20),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
