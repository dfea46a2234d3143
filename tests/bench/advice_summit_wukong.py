"""Wukong: clicks on Criteo's week of advertisements, by stacked factorization machines over tables of ids.

In flax linen, as in a repository of rankers. Ids are hashed to the rows that a table has; tables learn by Adagrad and
the rest by AdamW.
"""
import jax
import jax.numpy as jnp

from advice_board_training import F32, checkpoint_policy, compute_dtype, optax_step


def wukong(change, now, tables, width, layers, projected, compressed, rank, mlp, bottom, top):
    import flax.linen as nn

    class MLP(nn.Module):
        sizes: tuple
        last: int

        @nn.compact
        def __call__(self, x):
            for size in self.sizes:
                x = nn.Dense(size, dtype=now)(x)
                x = nn.relu(nn.LayerNorm(dtype=now)(x))
            return nn.Dense(self.last, dtype=now)(x)

    class FactorizationMachineBlock(nn.Module):
        """[b, n, d] to [b, projected, d], by the products of all with a few mixtures of all."""
        @nn.compact
        def __call__(self, x):
            rows, count, side = x.shape
            mixing = self.param("mixing", nn.initializers.lecun_normal(), (count, rank), F32).astype(now)
            products = jnp.einsum("bnd,bdk->bnk", x, jnp.einsum("bmd,mk->bdk", x, mixing))
            flat = nn.LayerNorm(dtype=now)(products.reshape(rows, count * rank))
            return nn.relu(MLP(mlp, projected * side)(flat)).reshape(rows, projected, side)

    class LinearCompressBlock(nn.Module):
        out: int

        @nn.compact
        def __call__(self, x):
            weight = self.param("weight", nn.initializers.lecun_normal(), (x.shape[1], self.out), F32).astype(now)
            return jnp.einsum("bnd,nm->bmd", x, weight)

    class WukongLayer(nn.Module):
        @nn.compact
        def __call__(self, x):
            made = [FactorizationMachineBlock(name="fmb")(x), LinearCompressBlock(compressed, name="lcb")(x)]
            made = jnp.concatenate(made, 1)
            if x.shape[1] != made.shape[1]:
                x = LinearCompressBlock(made.shape[1], name="residual")(x)
            return nn.LayerNorm(dtype=now, name="norm")(made + x)

    class Wukong(nn.Module):
        @nn.compact
        def __call__(self, dense, ids):
            found = [nn.Embed(size, width, dtype=now, name=f"table_{i}")(ids[:, i] % size)
                     for i, size in enumerate(tables)]
            numbers = MLP(bottom, width, name="bottom")(jnp.log1p(nn.relu(dense.astype(F32))).astype(now))
            x = jnp.stack([nn.relu(numbers), *found], 1)
            layer = nn.remat(WukongLayer, policy=checkpoint_policy(change)) if change.rematerialize else WukongLayer
            for i in range(layers):
                x = layer(name=f"layer_{i}")(x)
            return MLP(top, 1, name="top")(x.reshape(x.shape[0], -1))[:, 0]
    return Wukong()


def labels_of(params):
    return {name: jax.tree.map(lambda _: "tables" if name.startswith("table_") else "dense", part)
            for name, part in params.items()}


def wukong_clicks(tables, width, layers, batch, projected=32, compressed=32, rank=24, mlp=(512,), bottom=(512, 256),
                  top=(512, 256), dense=13, kind=F32):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = wukong(change, now, tables, width, layers, projected, compressed, rank, mlp, bottom, top)
        one = jnp.zeros((1, dense)), jnp.zeros((1, len(tables)), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), *one)["params"]

        def loss_of(params, numbers, ids, clicked):
            logits = model.apply({"params": params}, numbers, ids).astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, clicked.astype(F32)).mean()
        optimizer = optax.multi_transform({"tables": optax.adagrad(0.02), "dense": optax.adamw(4e-4)}, labels_of)
        return optax_step(arrays, change, shapes, loss_of, optimizer, arrays.batch((rows, dense), F32),
                          arrays.batch((rows, len(tables)), jnp.int32), arrays.batch((rows,), jnp.int32))
    return make
