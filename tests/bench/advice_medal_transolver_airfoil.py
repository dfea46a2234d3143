"""Transolver on the flow round airfoils: attention among learned physical slices of an unstructured mesh's points.

haiku, eight layers in a loop, weights in float32 and the layers in bfloat16; slices are normalized in float32. Relative
L2 of pressure and velocity, AdamW with a one-cycle schedule, no decay of vectors; the state is donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, matrices_only, policy_of, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype

COORDINATES, CONDITIONS, OUTPUTS = 2, 5, 4
INIT = hk.initializers.TruncatedNormal(0.02)


def linear(width, name):
    return hk.Linear(width, w_init=INIT, name=name)


def layer_norm(name):
    return hk.LayerNorm(-1, create_scale=True, create_offset=True, name=name)


class PhysicsAttention(hk.Module):
    """Points -> slices by soft assignment, attention among the slices, and back by the same assignment."""

    def __init__(self, heads, slices, name="physics_attention"):
        super().__init__(name=name)
        self.heads, self.slices = heads, slices

    def __call__(self, x):
        batch, points, width = x.shape
        size = width // self.heads

        def headed(y):
            return y.reshape(batch, points, self.heads, size)
        features, mid = headed(linear(width, "to_features")(x)), headed(linear(width, "to_mid")(x))
        temperature = hk.get_parameter("temperature", (self.heads, 1), init=hk.initializers.Constant(0.5))
        scores = hk.Linear(self.slices, w_init=hk.initializers.Orthogonal(), name="to_slices")(mid).astype(F32)
        weights = jax.nn.softmax(scores / jnp.clip(temperature.astype(F32), 0.1, 5.0), axis=-1)
        mass = weights.sum(1)[..., None] + 1e-5
        weights = weights.astype(x.dtype)
        tokens = jnp.einsum("bnhs,bnhd->bhsd", weights, features, preferred_element_type=F32) / mass
        tokens = tokens.astype(x.dtype)
        q, k, v = (hk.Linear(size, with_bias=False, w_init=INIT, name=name)(tokens) for name in "qkv")
        mixing = jax.nn.softmax(jnp.einsum("bhsd,bhtd->bhst", q, k).astype(F32) * size ** -0.5, axis=-1)
        tokens = jnp.einsum("bhst,bhtd->bhsd", mixing.astype(x.dtype), v)
        spread = jnp.einsum("bhsd,bnhs->bnhd", tokens, weights).reshape(x.shape)
        return linear(width, "to_out")(spread)


class TransolverBlock(hk.Module):
    def __init__(self, heads, slices, ratio, name):
        super().__init__(name=name)
        self.heads, self.slices, self.ratio = heads, slices, ratio

    def __call__(self, x):
        width = x.shape[-1]
        x = x + PhysicsAttention(self.heads, self.slices)(layer_norm("norm_1")(x))
        y = jax.nn.gelu(linear(self.ratio * width, "up")(layer_norm("norm_2")(x)))
        return x + linear(width, "down")(y)


class Transolver(hk.Module):
    def __init__(self, layers, width, heads, slices, ratio, change, name="transolver"):
        super().__init__(name=name)
        self.layers, self.width, self.heads, self.slices = layers, width, heads, slices
        self.ratio, self.change = ratio, change

    def __call__(self, points):
        x = jax.nn.gelu(linear(2 * self.width, "lift")(points))
        x = linear(self.width, "embed")(x)
        x = x + hk.get_parameter("placeholder", (self.width,), init=hk.initializers.RandomUniform(0, 1 / self.width))
        for i in range(self.layers):
            block = TransolverBlock(self.heads, self.slices, self.ratio, name=f"block_{i}")
            run = hk.remat(block, policy=policy_of(self.change)) if self.change.rematerialize else block
            x = run(x)
        return linear(OUTPUTS, "read")(layer_norm("norm")(x))


def relative_l2(made, wanted):
    """[b, n, k] -> [b]"""
    axes = (1, 2)
    return jnp.sqrt(jnp.square(made - wanted).sum(axes)) / (jnp.sqrt(jnp.square(wanted).sum(axes)) + 1e-6)


def transolver(layers, width, heads, slices, batch, points, ratio=2, surface_weight=0.5, noise=1e-3, kind=BF16):
    def make(arrays, change):
        rows, n, now = batch // change.batch_divisor, points // change.length_divisor, compute_dtype(change, kind)
        net = hk.without_apply_rng(hk.transform(
            lambda x: Transolver(layers, width, heads, slices, ratio, change)(x)))
        params = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, 64, COORDINATES + CONDITIONS)))
        params = cast(params, change.stored)
        schedule = optax.cosine_onecycle_schedule(60_000, 1e-3, pct_start=0.1)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, weight_decay=1e-4, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, mesh, conditions, fields, on_surface):
            mesh = mesh.astype(F32) + noise * jax.random.normal(key, mesh.shape)
            inputs = jnp.concatenate([mesh, conditions.astype(F32)], axis=-1).astype(now)
            made = net.apply(jax.tree.map(lambda w: w.astype(now), params), inputs).astype(F32)
            fields = fields.astype(F32)
            volume = relative_l2(made, fields)
            skin = on_surface[..., None].astype(F32)
            surface = relative_l2(made[..., :1] * skin, fields[..., :1] * skin)
            return (volume + surface_weight * surface).mean(), {"volume": volume.mean(), "surface": surface.mean()}

        def update(params, opt_state, key, mesh, conditions, fields, on_surface):
            key, noise_key = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(
                params, noise_key, mesh, conditions, fields, on_surface)
            metrics = {"loss": loss, "grad_norm": optax.global_norm(grads), **jax.tree.map(jnp.mean, metrics)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, metrics
        return update, (
            laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
            arrays.batch((rows, n, COORDINATES), F32), arrays.batch((rows, n, CONDITIONS), F32),
            arrays.batch((rows, n, OUTPUTS), F32), arrays.batch((rows, n), jnp.bool_)), (0, 1)
    return make


FAMILY = {"medal_transolver_airfoil": dict(
    make=transolver(layers=8, width=256, heads=8, slices=64, batch=8, points=32_768), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters+rematerialize", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "rematerialize+halve_batch",
              "shard_parameters", "shard_all"))}
