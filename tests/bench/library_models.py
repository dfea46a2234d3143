"""Training steps of models that libraries bring, compiled for a TPU without one: library_models.py FOLDER [MODEL]...

What people train is not one file of their own: flax's, haiku's, equinox's and keras's layers stand between their line
and the operation. Each MODEL is a small configuration of a real one, with Adam; libtpu's own HloProto is
FOLDER/MODEL.hlo.pb.
Needs jax, libtpu, optax, flax, dm-haiku, equinox, transformers (below 5, which still has flax models) and keras-hub.
"""
import functools
import os
import pathlib
import shutil
import sys
import tempfile
import traceback

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0",
                  ALLOW_MULTIPLE_LIBTPU_LOAD="1", KERAS_BACKEND="jax")
os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5litepod-4")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

MODELS = {}


def model(make):
    """make() is loss(params, batch), the shapes of params, and those of the batch."""
    MODELS[make.__name__] = make
    return make


def tokens(batch, length):
    return jax.ShapeDtypeStruct((batch, length), jnp.int32)


def next_token_loss(logits, ids):
    return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1].astype(jnp.float32), ids[:, 1:]).mean()


@model
def flax_gpt2():
    from transformers import FlaxGPT2LMHeadModel, GPT2Config
    config = GPT2Config(n_layer=3, n_embd=512, n_head=8, n_positions=512, vocab_size=16384)
    gpt = FlaxGPT2LMHeadModel(config, _do_init=False)
    shapes = jax.eval_shape(functools.partial(gpt.init_weights, input_shape=(1, 8)), jax.random.key(0))
    loss = lambda params, ids: next_token_loss(gpt(ids, params=params, train=False).logits, ids)  # noqa: E731
    return loss, shapes, tokens(8, 512)


@model
def flax_bert():
    from transformers import BertConfig, FlaxBertForMaskedLM
    config = BertConfig(num_hidden_layers=3, hidden_size=512, num_attention_heads=8, intermediate_size=2048,
                        vocab_size=16384)
    bert = FlaxBertForMaskedLM(config, _do_init=False)
    shapes = jax.eval_shape(functools.partial(bert.init_weights, input_shape=(1, 8)), jax.random.key(0))
    loss = lambda params, ids: next_token_loss(bert(ids, params=params, train=False).logits, ids)  # noqa: E731
    return loss, shapes, tokens(8, 512)


@model
def haiku_transformer():
    import haiku as hk

    def forward(ids):
        x = hk.Embed(16384, 512)(ids)
        for layer in range(3):
            small = hk.initializers.VarianceScaling(0.1)
            attention = hk.MultiHeadAttention(8, 64, w_init=small, name=f"attention_{layer}")
            y = hk.LayerNorm(-1, True, True)(x)
            mask = jnp.tril(jnp.ones((1, 1, ids.shape[1], ids.shape[1])))
            x = x + attention(y, y, y, mask=mask)
            mlp = hk.nets.MLP([2048, 512], activation=jax.nn.gelu, name=f"mlp_{layer}")
            x = x + mlp(hk.LayerNorm(-1, True, True)(x))
        return hk.Linear(16384)(x)
    net = hk.without_apply_rng(hk.transform(forward))
    shapes = jax.eval_shape(net.init, jax.random.key(0), tokens(8, 512))
    return (lambda params, ids: next_token_loss(net.apply(params, ids), ids)), shapes, tokens(8, 512)


@model
def equinox_vit():
    import equinox as eqx

    class Block(eqx.Module):
        attention: eqx.nn.MultiheadAttention
        mlp: eqx.nn.MLP
        norm: eqx.nn.LayerNorm

        def __init__(self, key):
            self.attention = eqx.nn.MultiheadAttention(8, 512, key=key)
            self.mlp = eqx.nn.MLP(512, 512, 2048, 1, jax.nn.gelu, key=key)
            self.norm = eqx.nn.LayerNorm(512)

        def __call__(self, x):
            y = jax.vmap(self.norm)(x)
            x = x + self.attention(y, y, y)
            return x + jax.vmap(self.mlp)(jax.vmap(self.norm)(x))

    class Transformer(eqx.Module):
        patches: eqx.nn.Conv2d
        blocks: list
        head: eqx.nn.Linear

        def __init__(self, key):
            self.patches = eqx.nn.Conv2d(3, 512, 16, 16, key=key)
            self.blocks = [Block(key) for _ in range(3)]
            self.head = eqx.nn.Linear(512, 1000, key=key)

        def __call__(self, image):
            x = self.patches(image).reshape(512, -1).T
            for block in self.blocks:
                x = block(x)
            return self.head(x.mean(0))
    whole = eqx.filter_eval_shape(Transformer, jax.random.key(0))
    shapes, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def loss(params, images):
        logits = jax.vmap(eqx.combine(params, static))(images)
        return -jax.nn.log_softmax(logits)[:, 0].mean()
    return loss, shapes, jax.ShapeDtypeStruct((32, 3, 224, 224), jnp.float32)


@model
def keras_gpt2():
    import keras_hub
    backbone = keras_hub.models.GPT2Backbone(vocabulary_size=16384, num_layers=3, num_heads=8, hidden_dim=512,
                                             intermediate_dim=2048, max_sequence_length=512)
    shape_of = lambda variable: jax.ShapeDtypeStruct(variable.shape, variable.dtype)  # noqa: E731
    shapes = {v.path: shape_of(v) for v in backbone.trainable_variables}
    fixed = [v.value for v in backbone.non_trainable_variables]

    def loss(params, ids):
        inputs = {"token_ids": ids, "padding_mask": jnp.ones_like(ids)}
        hidden, _ = backbone.stateless_call(list(params[v.path] for v in backbone.trainable_variables), fixed, inputs)
        return next_token_loss(backbone.token_embedding(hidden, reverse=True), ids)
    return loss, shapes, tokens(8, 512)


def train_step_of(loss, optimizer):
    def train_step(params, opt_state, batch):
        value, gradients = jax.value_and_grad(loss)(params, batch)
        updates, opt_state = optimizer.update(gradients, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value
    return train_step


def compile_one(name, target):
    topology = topologies.get_topology_desc("v5e:2x2", platform="tpu")
    sharding = NamedSharding(Mesh(np.array(topology.devices[:1]), ("x",)), PartitionSpec())
    placed = functools.partial(jax.tree.map, lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=sharding))
    loss, shapes, batch = MODELS[name]()
    optimizer = optax.adamw(1e-3)
    state = jax.eval_shape(optimizer.init, shapes)
    step = jax.jit(train_step_of(loss, optimizer), donate_argnums=(0, 1))
    with tempfile.TemporaryDirectory() as dump:
        step.lower(placed(shapes), placed(state), placed(batch)).compile(
            compiler_options={"xla_dump_to": dump, "xla_dump_hlo_as_proto": True})
        made = max(pathlib.Path(dump).glob("*.after_optimizations.hlo.pb"), key=lambda file: file.stat().st_size)
        shutil.copy(made, target)


def main(folder, *names):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names or MODELS:
        try:
            compile_one(name, pathlib.Path(folder) / f"{name}.hlo.pb")
            print(name, flush=True)
        except Exception:  # the others are still worth having
            traceback.print_exc()
            failed.append(name)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
