"""Click-through rates on Criteo's display advertising data, by DLRM with the cross network of DCN-v2.

In flax linen: one table for each of 26 categorical features, a bottom MLP for 13 counts, low-rank cross layers over
all of them side by side, and a top MLP. Adagrad for the tables, Adam for the rest; gradients of tables are dense.
"""
from typing import Any, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, value_and_mean_grad
from advice_tour_c_parts import TRAINED_IN_FLOAT32

CRITEO_KAGGLE = (1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194, 27, 14992, 5461306,
                 10, 5652, 2173, 4, 7046547, 18, 15, 286181, 105, 142572)
NUM_DENSE = 13


class EmbeddingTable(nn.Module):
    rows: int
    dim: int
    dtype: Any

    @nn.compact
    def __call__(self, ids):
        bound = self.rows ** -0.5

        def init(key, shape, dtype=F32):
            return jax.random.uniform(key, shape, dtype, -bound, bound)
        table = self.param("embedding", init, (self.rows, self.dim))
        return jnp.take(table, ids, axis=0).astype(self.dtype)


class DenseRelu(nn.Module):
    features: int
    dtype: Any

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.features, dtype=self.dtype, kernel_init=nn.initializers.glorot_normal())(x)
        return nn.relu(x)


class LowRankCross(nn.Module):
    rank: int
    dtype: Any

    @nn.compact
    def __call__(self, x0, x):
        h = nn.Dense(self.rank, use_bias=False, dtype=self.dtype, name="v")(x)
        h = nn.Dense(x0.shape[-1], dtype=self.dtype, name="u")(h)
        return x0 * h + x


class DLRMDCN(nn.Module):
    table_sizes: Sequence[int]
    dim: int
    bottom: Sequence[int]
    top: Sequence[int]
    cross_layers: int
    rank: int
    dtype: Any
    remat: bool = False
    policy: Any = None

    @nn.compact
    def __call__(self, dense, sparse):
        layer = nn.remat(DenseRelu, policy=self.policy) if self.remat else DenseRelu
        cross = nn.remat(LowRankCross, policy=self.policy) if self.remat else LowRankCross
        x = jnp.log1p(dense.astype(F32)).astype(self.dtype)
        for i, features in enumerate(self.bottom):
            x = layer(features, self.dtype, name=f"bottom_{i}")(x)
        fields = [x]
        for i, rows in enumerate(self.table_sizes):
            fields.append(EmbeddingTable(rows, self.dim, self.dtype, name=f"table_{i}")(sparse[:, i]))
        x0 = jnp.concatenate(fields, axis=-1)
        x = x0
        for i in range(self.cross_layers):
            x = cross(self.rank, self.dtype, name=f"cross_{i}")(x0, x)
        for i, features in enumerate(self.top):
            x = layer(features, self.dtype, name=f"top_{i}")(x)
        return nn.Dense(1, dtype=self.dtype, name="logit")(x)[:, 0]


def param_kinds(params):
    return {name: jax.tree.map(lambda _: "tables" if name.startswith("table_") else "dense", sub)
            for name, sub in params.items()}


def dcn_ctr(table_sizes, dim, bottom, top, cross_layers, rank, batch, kind=F32):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        model = DLRMDCN(table_sizes, dim, bottom, top, cross_layers, rank, compute_dtype(change, kind),
                        change.rematerialize, checkpoint_policy(change))
        variables = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, NUM_DENSE)),
                                   jnp.zeros((1, len(table_sizes)), jnp.int32))
        params = cast(variables["params"], change.stored)
        optimizer = optax.partition({"tables": optax.adagrad(0.005), "dense": optax.adam(1e-3)}, param_kinds)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, dense, sparse, clicks):
            logits = model.apply({"params": params}, dense, sparse)
            return optax.sigmoid_binary_cross_entropy(logits.astype(F32), clicks.astype(F32)).mean()

        def train_step(params, opt_state, dense, sparse, clicks):
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(params, dense, sparse, clicks)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, loss

        batch_of = (arrays.batch((rows, NUM_DENSE), F32), arrays.batch((rows, len(table_sizes)), jnp.int32),
                    arrays.batch((rows,), F32))
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), *batch_of), (0, 1)
    return make


FAMILY = {"tour_dcn_ctr": dict(
    make=dcn_ctr(CRITEO_KAGGLE, 64, (512, 256, 64), (1024, 1024, 512, 256), 3, 512, 65536), is_donated=True,
    variants=TRAINED_IN_FLOAT32)}
