"""Programs as public JAX repositories have them, written without a look at the advice or its figures: pictures.

advice_exam_repos.py has language, and says what each maker takes and gives. These are in the manner of DeepMind's BYOL
and VQ-VAE in haiku, and of instant neural graphics in linen.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import (as_kind, computed, matrices_only, placed, random_key, trained,
                                   trained_with_statistics, warmed_up)
from advice_structures import F32


# --- haiku ---

def two_views(blocks, widths, hidden, projected, side, batch, kind=F32):
    """BYOL: what one network says of one view is what the average of it, that is not trained, says of the other."""
    def make(arrays, change):
        import haiku as hk
        import optax

        def norm(x):
            return hk.BatchNorm(True, True, 0.9)(x, True)

        def head(x, name):
            x = jax.nn.relu(norm(hk.Linear(hidden, name=f"{name}_enter")(x)))
            return hk.Linear(projected, with_bias=False, name=f"{name}_leave")(x)

        def forward(images):
            net = hk.nets.ResNet(blocks, 1, {"decay_rate": 0.9}, bottleneck=True, channels_per_group=widths)
            x = jax.nn.relu(net.initial_batchnorm(net.initial_conv(images), True, False))
            x = hk.max_pool(x, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            for group in net.block_groups:
                def staged(x, group=group):
                    return group(x, True, False)
                x = (hk.remat(staged) if change.rematerialize else staged)(x)
            said = head(x.mean((1, 2)), "projector")
            return said, head(said, "predictor")

        net, size = hk.without_apply_rng(hk.transform_with_state(forward)), batch // change.batch_divisor
        shapes, statistics = as_kind(jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((2, side, side, 3))),
                                     change.stored)
        optimizer = optax.lars(warmed_up(0.45), 1e-6, matrices_only, trust_ratio_mask=matrices_only)
        state = {"online": shapes, "target": shapes, "statistics": statistics,
                 "optimizer": jax.eval_shape(optimizer.init, shapes)}

        def of_view(params, statistics, images):
            images = images.astype(computed(change, kind))
            return net.apply(as_kind(params, computed(change, kind)), statistics, images)

        def apart(said, wanted):
            said, wanted = (x.astype(F32) / jnp.linalg.norm(x.astype(F32), axis=-1, keepdims=True)
                            for x in (said, wanted))
            return jnp.mean(jnp.sum(jnp.square(said - jax.lax.stop_gradient(wanted)), -1))

        def loss_of(online, target, statistics, first, second):
            ((_, said_first), made), ((_, said_second), _) = (of_view(online, statistics, one)
                                                              for one in (first, second))
            ((first, _), _), ((second, _), _) = (of_view(target, statistics, one) for one in (first, second))
            return apart(said_first, second) + apart(said_second, first), made

        def train_step(state, first, second):
            (loss, made), grads = jax.value_and_grad(loss_of, has_aux=True)(state["online"], state["target"],
                                                                            state["statistics"], first, second)
            updates, optimizer_state = optimizer.update(grads, state["optimizer"], state["online"])
            online = optax.apply_updates(state["online"], updates)
            target = as_kind(optax.incremental_update(online, state["target"], 0.004), change.stored)
            made = jax.tree.map(lambda new, old: new.astype(old.dtype), made, state["statistics"])
            return {"online": online, "target": target, "statistics": made, "optimizer": optimizer_state}, loss
        views = arrays.batch((size, side, side, 3), F32)
        return train_step, (placed(arrays, state), views, views), (0,)
    return make


def quantized_pictures(width, depth, inner, codes, code, side, batch, kind=F32):
    """VQ-VAE: the nearest of so many codes for each place, and codes that follow what they are nearest to."""
    def make(arrays, change):
        import haiku as hk
        import optax

        def residual(x):
            def block(x):
                h = hk.Conv2D(inner, 3, name="conv_around")(jax.nn.relu(x))
                return x + hk.Conv2D(width, 1, name="conv_alone")(jax.nn.relu(h))
            for _ in range(depth):
                x = (hk.remat(block) if change.rematerialize else block)(x)
            return jax.nn.relu(x)

        def forward(images):
            x = jax.nn.relu(hk.Conv2D(width // 2, 4, 2, name="conv_enter")(images))
            x = jax.nn.relu(hk.Conv2D(width, 4, 2, name="conv_shrink")(x))
            x = residual(hk.Conv2D(width, 3, name="conv_middle")(x))
            found = hk.nets.VectorQuantizerEMA(code, codes, 0.25, 0.99)(hk.Conv2D(code, 1, name="conv_code")(x), True)
            x = residual(hk.Conv2D(width, 3, name="conv_decode")(found["quantize"]))
            x = jax.nn.relu(hk.Conv2DTranspose(width // 2, 4, 2, name="conv_grow")(x))
            return hk.Conv2DTranspose(3, 4, 2, name="conv_leave")(x), found["loss"]

        net = hk.without_apply_rng(hk.transform_with_state(forward))
        shapes, statistics = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((2, side, side, 3)))

        def loss_of(params, statistics, images):
            wanted = images.astype(computed(change, kind))
            (made, nearness), new = net.apply(as_kind(params, wanted.dtype), statistics, wanted)
            return jnp.mean(jnp.square(made - wanted).astype(F32)) / 0.06 + nearness.astype(F32), new
        images = arrays.batch((batch // change.batch_divisor, side, side, 3), F32)
        return trained_with_statistics(arrays, change, shapes, statistics, loss_of, optax.adam(3e-4), images)
    return make


# --- linen ---

def hashed_corners(levels, entries, coarse, fine, hidden, points, batch, kind=F32):
    """Instant neural graphics: features of a point's corners at each level, from tables by a hash; rays of points."""
    growth = np.exp(np.log(fine / coarse) / (levels - 1))

    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}
        corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), -1).reshape(8, 3)

        def of_level(table, size, places):
            scaled = places * size
            low = jnp.floor(scaled)
            ends = low[:, None].astype(jnp.uint32) + corners.astype(np.uint32)
            hashed = ends[..., 0] ^ ends[..., 1] * np.uint32(2654435761) ^ ends[..., 2] * np.uint32(805459861)
            share = jnp.prod(jnp.where(corners == 1, (scaled - low)[:, None], 1 - (scaled - low)[:, None]), -1)
            return jnp.sum(table[hashed % np.uint32(entries)] * share[..., None], 1)

        class Scene(nn.Module):
            @nn.compact
            def __call__(self, places, ways):
                tables = self.param("tables", nn.initializers.uniform(1e-4), (levels, entries, 2))
                sizes = jnp.asarray(np.floor(coarse * growth ** np.arange(levels)), F32)
                found = jax.vmap(of_level, (0, 0, None))(tables.astype(kinds["dtype"]), sizes, places)
                x = jnp.moveaxis(found, 0, 1).reshape(places.shape[0], -1)
                x = nn.Dense(16, **kinds)(nn.relu(nn.Dense(hidden, **kinds)(x)))
                h = jnp.concatenate([x, ways, jnp.sin(4 * ways), jnp.cos(4 * ways)], -1)
                for _ in range(2):
                    h = nn.relu(nn.Dense(hidden, **kinds)(h))
                return nn.softplus(x[:, 0]), nn.sigmoid(nn.Dense(3, **kinds)(h))

        model, size = (nn.remat(Scene) if change.rematerialize else Scene)(), batch // change.batch_divisor
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((4, 3)), jnp.zeros((4, 3)))["params"]
        rays = {name: arrays.batch((size, 3), F32) for name in ("from", "way", "color")}

        def loss_of(params, rays, key):
            edges = (jnp.arange(points) + jax.random.uniform(key, (size, points))) / points
            places = rays["from"][:, None] + edges[..., None] * rays["way"][:, None]
            ways = jnp.broadcast_to(rays["way"][:, None], places.shape)
            density, color = model.apply({"params": params}, places.reshape(-1, 3), ways.reshape(-1, 3))
            stopped = density.reshape(size, points).astype(F32) / points
            seen = jnp.exp(-jnp.cumsum(stopped, -1) + stopped) * (1 - jnp.exp(-stopped))
            made = jnp.einsum("rp,rpc->rc", seen, color.reshape(size, points, 3).astype(F32))
            return optax.huber_loss(made, rays["color"].astype(F32), delta=0.1).mean()
        optimizer = optax.adamw(optax.exponential_decay(1e-2, 10000, 0.33), b2=0.99, eps=1e-15, weight_decay=1e-6,
                                mask=lambda params: {name: name != "tables" for name in params})
        return trained(arrays, change, shapes, loss_of, optimizer, rays, random_key(arrays))
    return make
