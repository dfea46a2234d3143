"""Programs before and after one change, compiled for a TPU without one: advice_programs.py FOLDER [FAMILY[/CHANGE]...].

A family is one model with its training step; a variant is that program with one change a user would make after an
advice. libtpu compiles each ahead of time, and what comes out is the compiler's own HloProto, buffers included:
    FOLDER/<family>/<variant>.hlo.pb    FOLDER/index.json: {family: {variant: file}}
    FOLDER/held_out.json: the families that were judged last, before any rule was made with them in view
Programs that do not fit the chip are kept too: their buffers are assigned before the compiler gives up.
"""
import dataclasses
import json
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import time

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0",
                  ALLOW_MULTIPLE_LIBTPU_LOAD="1")
os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5litepod-4")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.ad_checkpoint import checkpoint_name  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

import advice_aside_families as aside  # noqa: E402
import advice_board_families as board  # noqa: E402
import advice_court_families as court  # noqa: E402
import advice_field_families as field  # noqa: E402
import advice_jury_families as jury  # noqa: E402
import advice_kinds_families as kinds  # noqa: E402
import advice_later as later  # noqa: E402
import advice_panel_families as panel  # noqa: E402
import advice_practice_families as practice  # noqa: E402
import advice_proof_families as proof  # noqa: E402
import advice_rally_families as rally  # noqa: E402
import advice_structures as structures  # noqa: E402
import advice_summit_families as summit  # noqa: E402
import advice_tour_families as tour  # noqa: E402
import advice_trial_families as trial  # noqa: E402
import advice_typical_families as typical  # noqa: E402
import advice_unseen_families as unseen  # noqa: E402
import advice_verdict_families as verdict  # noqa: E402

WAYS = 4
F32, BF16 = jnp.float32, jnp.bfloat16


@dataclasses.dataclass(frozen=True)
class Change:
    """What differs from the base program; one field, except in the variants of a family whose base has donations."""
    donate: bool = False
    stored: object = F32          # every float parameter of the entry, and the outputs that mirror them
    follows: bool = False         # and where the program names no other type, it computes in what they are stored in
    computed: object = None       # activations; None: the family's own
    batch_divisor: int = 1
    rematerialize: bool = False
    shard: str = ""               # "", "parameters" or "all"
    aligned: bool = False
    prints: bool = False
    length_divisor: int = 1
    parts: int = 1                # of the batch, one after the other; their gradients are summed
    keeps: str = ""               # what a rematerialized block keeps: a policy of jax.checkpoint_policies
    quantized: bool = False       # weights of two dimensions and more as int8, with a scale for each column
    offload: str = ""             # to the host: "optimizer" (its state) or "activations" (inputs of blocks)


CHANGES = {
    "base": Change(),
    "donate_inputs": Change(donate=True),
    "bf16_parameters": Change(stored=BF16),
    "bf16_parameters.follow": Change(stored=BF16, follows=True),
    "bf16_temporaries": Change(computed=BF16),
    "halve_batch": Change(batch_divisor=2),
    "rematerialize": Change(rematerialize=True),
    "shard_parameters": Change(shard="parameters"),
    "shard_all": Change(shard="all"),
    "align_dimensions": Change(aligned=True),
    "remove_debug_print": Change(prints=False),
    "halve_sequence": Change(length_divisor=2),
    "micro_batch": Change(parts=4),
    "micro_batch.8": Change(parts=8),
    "micro_batch.16": Change(parts=16),
    "rematerialize_dots": Change(rematerialize=True, keeps="dots_with_no_batch_dims_saveable"),
    "int8_weights": Change(quantized=True),
    "host_offload_optimizer": Change(offload="optimizer"),
    "host_offload_activations": Change(offload="activations"),
}
USUAL = ("donate_inputs", "bf16_parameters", "halve_batch", "rematerialize", "shard_parameters", "shard_all")
TWO = ("donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters+halve_batch")  # both at once


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Int8:
    """A weight in int8 that is used as it is: a product is scaled after it, by its columns."""
    values: object
    scale: object

    @property
    def dtype(self):
        return self.scale.dtype

    def astype(self, kind):
        return Int8(self.values, self.scale.astype(kind))

    def __getitem__(self, rows):
        return self.values[rows].astype(self.scale.dtype) * self.scale

    def __rmatmul__(self, left):
        return (left @ self.values.astype(left.dtype)) * self.scale


# What XLA:GPU asks of a device that is not there: an H100 as its data sheet and CUDA's tables describe it.
H100 = """
gpu_device_info {
  cuda_compute_capability { major: 9 }
  core_count: 132  fpus_per_core: 128  clock_rate_ghz: 1.98
  device_memory_size: 84942979072  memory_bandwidth: 3352320000000  l2_cache_size: 52428800
  threads_per_block_limit: 1024  threads_per_warp: 32  threads_per_core_limit: 2048
  shared_memory_per_block: 49152  shared_memory_per_block_optin: 232448  shared_memory_per_core: 233472
  registers_per_block_limit: 65536  registers_per_core_limit: 65536
  block_dim_limit_x: 2147483647  block_dim_limit_y: 65535  block_dim_limit_z: 65535
  runtime_version: "12.8.0"  dnn_version: "9.10.0"
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 10 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def topology_of(chip):
    """Of "v5e:2x2", "h100:1x1x4" (slices x hosts x devices)."""
    name, _, layout = chip.partition(":")
    if name == "h100":
        return topologies.get_topology_desc("", platform="cuda", target_config=H100, topology=layout)
    return topologies.get_topology_desc(chip, platform="tpu")


class Arrays:
    """Abstract arrays of one variant: where they lie on the chips and how they are stored."""

    def __init__(self, chip, change):
        self.change = change
        devices = topology_of(chip).devices[:WAYS if change.shard else 1]
        self.mesh = Mesh(np.array(devices), ("x",))

    def array(self, shape, kind, split=None):
        axes = [None] * len(shape)
        if split is not None and self.change.shard:
            axes[next(d for d in (split, *range(len(shape))) if shape[d] % WAYS == 0)] = "x"
        return jax.ShapeDtypeStruct(shape, kind, sharding=NamedSharding(self.mesh, PartitionSpec(*axes)))

    def parameter(self, shape, split=0):
        if self.change.quantized and split is not None:
            return Int8(self.array(shape, jnp.int8), self.array((*shape[:-2], shape[-1]), F32))
        return self.array(shape, self.change.stored, split)

    def batch(self, shape, kind):
        kind = self.change.stored if kind == F32 else kind
        return self.array(shape, kind, 0 if self.change.shard == "all" else None)


# --- Optimizers ---

def gradients(loss_of, parts):
    """Of the whole batch, or of its parts one after the other, summed."""
    of_one = jax.value_and_grad(loss_of)

    def of_parts(parameters, *batch):
        def add(total, part):
            loss, slopes = of_one(parameters, *part)
            return jax.tree.map(jnp.add, total, slopes), loss
        split = [array.reshape(parts, -1, *array.shape[1:]) for array in batch]
        total, losses = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, parameters), split)
        return jnp.mean(losses), jax.tree.map(lambda slope: slope / parts, total)
    return of_one if parts == 1 else of_parts


def adam_step(loss_of, parts=1):
    def train_step(parameters, means, squares, *batch):
        loss, slopes = gradients(loss_of, parts)(parameters, *batch)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
        squares = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, squares, slopes)
        parameters = jax.tree.map(lambda p, m, s: p - 1e-3 * m / (jnp.sqrt(s) + 1e-8), parameters, means, squares)
        return parameters, means, squares, loss
    return train_step


def momentum_step(loss_of, parts=1):
    def train_step(parameters, momenta, *batch):
        loss, slopes = gradients(loss_of, parts)(parameters, *batch)
        momenta = jax.tree.map(lambda m, g: 0.9 * m + g, momenta, slopes)
        return jax.tree.map(lambda p, m: p - 0.1 * m, parameters, momenta), momenta, loss
    return train_step


def widened(step):
    """The step computed in float32, whatever its floating arguments are stored in; outputs are stored as those are."""
    def wide_step(*arguments):
        wide = jax.tree.map(lambda a: a.astype(F32) if a.dtype == BF16 else a, arguments)
        *state, loss = step(*wide)
        return *jax.tree.map(lambda new, old: new.astype(old.dtype), state, list(arguments[:len(state)])), loss
    wide_step.__name__ = step.__name__
    return wide_step


def with_state_on_host(step, arguments, donated):
    """The step and its arguments with all state but the parameters, which come first, in the host's memory."""
    kept = [i for i in donated if i > 0]
    put = {i: jax.tree.map(lambda a: a.sharding.with_memory_kind("pinned_host"), arguments[i]) for i in kept}

    def moved(values, place):
        return tuple(jax.device_put(value, place(i)) if i in kept else value for i, value in enumerate(values))

    def on_host(i):
        return jax.tree.map(lambda a, sharding: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=sharding),
                            arguments[i], put[i])

    def offloaded_step(*arguments):
        fetched = moved(arguments, lambda i: jax.tree.map(lambda s: s.with_memory_kind("device"), put[i]))
        return moved(step(*fetched), put.get)
    offloaded_step.__name__ = step.__name__
    return offloaded_step, tuple(on_host(i) if i in kept else one for i, one in enumerate(arguments))


def with_input_on_host(block):
    """A rematerialized block whose input, its last argument, waits in the host's memory for the backward pass."""
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["input"], offload_src="device",
        offload_dst="pinned_host")
    return jax.checkpoint(lambda *rest: block(*rest[:-1], checkpoint_name(rest[-1], "input")), policy=policy)


def maybe_remat(change, block):
    if change.offload == "activations":
        return with_input_on_host(block)
    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    return jax.checkpoint(block, policy=policy) if change.rematerialize else block


# --- Transformers ---

@dataclasses.dataclass(frozen=True)
class Sizes:
    layers: int
    width: int
    hidden: int
    vocabulary: int
    heads: int
    batch: int
    length: int
    experts: int = 0
    is_gated: bool = False


def normalize(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale.astype(x.dtype)


@jax.named_scope("attention")
def attend(layer, x, heads):
    batch, length, width = x.shape
    query, key, value = (t.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)
                         for t in jnp.split(x @ layer["qkv"].astype(x.dtype), 3, -1))
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) / np.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    weights = jax.nn.softmax(scores.astype(F32), -1).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", weights, value)
    return mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ layer["out"].astype(x.dtype)


@jax.named_scope("mlp")
def think(layer, x):
    return jax.nn.gelu(x @ layer["up"].astype(x.dtype)) @ layer["down"].astype(x.dtype)


@jax.named_scope("gated")
def think_gated(layer, x):
    gate, up = jnp.split(x @ layer["gate_up"].astype(x.dtype), 2, -1)
    return (jax.nn.silu(gate) * up) @ layer["down"].astype(x.dtype)


@jax.named_scope("experts")
def route(layer, x, experts):
    """One expert a token, each with room for twice its share; tokens over it are dropped."""
    batch, length, width = x.shape
    room = 2 * length // experts
    gates = jax.nn.softmax((x @ layer["router"].astype(x.dtype)).astype(F32), -1)
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), experts)
    place = (jnp.cumsum(chosen, 1) - 1) * chosen
    sent = (jax.nn.one_hot(place.astype(jnp.int32), room) * chosen[..., None]).astype(x.dtype)
    inbox = jnp.einsum("btec,btd->ebcd", sent, x)
    grown = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", inbox, layer["up"].astype(x.dtype)))
    outbox = jnp.einsum("ebcf,efd->ebcd", grown, layer["down"].astype(x.dtype))
    return jnp.einsum("btec,ebcd->btd", sent * gates[..., None].astype(x.dtype), outbox)


def transformer_parameters(arrays, sizes, stacked):
    width, hidden = sizes.width, sizes.hidden
    shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, hidden), "down": (hidden, width)}
    if sizes.experts:
        shapes |= {"up": (sizes.experts, width, hidden), "down": (sizes.experts, hidden, width),
                   "router": (width, sizes.experts)}
    if sizes.is_gated:
        shapes["gate_up"] = (width, 2 * hidden)
        del shapes["up"]

    def layer():
        made = {name: arrays.parameter((sizes.layers, *shape), 1) if stacked else arrays.parameter(shape)
                for name, shape in shapes.items()}
        for name in ("norm1", "norm2"):
            made[name] = arrays.parameter((sizes.layers, width) if stacked else (width,), None)
        return made

    return {"embedding": arrays.parameter((sizes.vocabulary, width)),
            "head": arrays.parameter((width, sizes.vocabulary)),
            "layers": layer() if stacked else [layer() for _ in range(sizes.layers)]}


def transformer_scores(change, sizes, scanned, computed):
    def block(layer, x):
        x = x + attend(layer, normalize(x, layer["norm1"]), sizes.heads)
        h = normalize(x, layer["norm2"])
        if sizes.experts:
            return x + route(layer, h, sizes.experts)
        return x + (think_gated if sizes.is_gated else think)(layer, h)

    block = maybe_remat(change, block)

    def scores_of(parameters, tokens):
        x = parameters["embedding"].astype(computed or parameters["embedding"].dtype)[tokens]
        if scanned:
            x, _ = jax.lax.scan(lambda x, layer: (block(layer, x), None), x, parameters["layers"])
        else:
            for layer in parameters["layers"]:
                x = block(layer, x)
        return (x @ parameters["head"].astype(x.dtype)).astype(F32)
    return scores_of


def transformer(sizes, scanned=False, computed=BF16, chip="v5e:2x2", trains=True, length=None):
    def make(change):
        real = dataclasses.replace(sizes, length=length if change.aligned else sizes.length // change.length_divisor)
        arrays = Arrays(chip, change)
        kind = None if change.follows and computed == F32 else change.computed or computed
        scores_of = transformer_scores(change, real, scanned, kind)
        parameters = transformer_parameters(arrays, real, scanned)
        tokens = arrays.batch((real.batch // change.batch_divisor, real.length), jnp.int32)

        def loss_of(parameters, tokens):
            scores = scores_of(parameters, tokens)
            if change.prints:
                jax.debug.print("scores {}", scores)
            chosen = jnp.take_along_axis(jax.nn.log_softmax(scores[:, :-1]), tokens[:, 1:, None], -1)
            return -jnp.mean(chosen)

        if trains:
            step = adam_step(loss_of, change.parts)
            step = widened(step) if computed == F32 and change.stored == BF16 and not change.follows else step
            return step, (parameters, parameters, parameters, tokens), (0, 1, 2)
        return scores_of, (parameters, tokens), (0,)
    return make


# --- Dense and convolutional models ---

def dense(layers, width, batch, chip="v5e:2x2", aligned=None, step_of=adam_step):
    def make(change):
        side = aligned if change.aligned else width
        arrays = Arrays(chip, change)
        parameters = [{"weight": arrays.parameter((side, side)), "bias": arrays.parameter((side,), None)}
                      for _ in range(layers)]
        rows = arrays.batch((batch // change.batch_divisor, side), F32)
        block = maybe_remat(change, lambda layer, x: x + jax.nn.gelu(
            x @ layer["weight"].astype(x.dtype) + layer["bias"].astype(x.dtype)))

        def loss_of(parameters, rows, wanted):
            x = rows.astype(change.computed) if change.computed else rows
            for layer in parameters:
                x = block(layer, x)
            return jnp.mean(jnp.square(x - wanted.astype(x.dtype)).astype(F32))

        step = step_of(loss_of, change.parts)
        step = widened(step) if change.stored == BF16 and not change.follows else step
        state = (parameters,) * (3 if step_of is adam_step else 2)
        return step, (*state, rows, rows), tuple(range(len(state)))
    return make


def residual_network(stages, blocks, side, batch, chip="v5e:2x2", classes=1000, computed=None):
    def convolve(x, kernel, stride=1):
        return jax.lax.conv_general_dilated(x, kernel.astype(x.dtype), (stride, stride), "SAME",
                                            dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def standardize(x, scale):
        mean = jnp.mean(x, (0, 1, 2), keepdims=True)
        spread = jnp.mean(jnp.square(x - mean), (0, 1, 2), keepdims=True)
        return (x - mean) * jax.lax.rsqrt(spread + 1e-5) * scale.astype(x.dtype)

    def block(layer, x):
        h = jax.nn.relu(standardize(convolve(x, layer["first"]), layer["scale1"]))
        return jax.nn.relu(x + standardize(convolve(h, layer["second"]), layer["scale2"]))

    def make(change):
        arrays = Arrays(chip, change)
        widths = [3, *stages]
        parameters = {"stages": [], "head": arrays.parameter((stages[-1], classes))}
        for before, width in zip(widths, widths[1:]):
            layer = {"first": (3, 3, width, width), "second": (3, 3, width, width)}
            parameters["stages"].append({
                "enter": arrays.parameter((3, 3, before, width), 3),
                "blocks": [{**{name: arrays.parameter(shape, 3) for name, shape in layer.items()},
                            "scale1": arrays.parameter((width,), None), "scale2": arrays.parameter((width,), None)}
                           for _ in range(blocks)]})
        size = batch // change.batch_divisor
        images = arrays.batch((size, side, side, 3), F32)
        labels = arrays.batch((size,), jnp.int32)
        repeated = maybe_remat(change, block)

        def loss_of(parameters, images, labels):
            x = images.astype(change.computed or computed or images.dtype)
            for stage in parameters["stages"]:
                x = convolve(x, stage["enter"], 2)
                for layer in stage["blocks"]:
                    x = repeated(layer, x)
            scores = (jnp.mean(x, (1, 2)) @ parameters["head"].astype(x.dtype)).astype(F32)
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], -1))

        step = momentum_step(loss_of, change.parts)
        step = widened(step) if change.stored == BF16 and not computed and not change.follows else step
        return step, (parameters, parameters, images, labels), (0, 1)
    return make


# --- Steps over micro-batches, caches of inference, time loops ---

def accumulating(sizes, steps, chip="v5e:2x2"):
    """Gradients summed over micro-batches: tokens [steps, batch, length], the layers in a loop inside the loop."""
    def make(change):
        arrays = Arrays(chip, change)
        scores_of = transformer_scores(change, sizes, True, change.computed or BF16)
        parameters = transformer_parameters(arrays, sizes, True)
        size = sizes.batch // change.batch_divisor
        split = 1 if change.shard == "all" else None
        tokens = arrays.array((steps, size, sizes.length // change.length_divisor), jnp.int32, split)

        def loss_of(parameters, tokens):
            scores = scores_of(parameters, tokens)
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores[:, :-1]), tokens[:, 1:, None], -1))

        def train_step(parameters, momenta, tokens):
            def one(total, some):
                loss, slopes = jax.value_and_grad(loss_of)(parameters, some)
                return jax.tree.map(lambda a, g: a + g.astype(F32), total, slopes), loss
            zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), parameters)
            slopes, losses = jax.lax.scan(one, zeros, tokens)
            momenta = jax.tree.map(lambda m, g: (0.9 * m + g).astype(m.dtype), momenta, slopes)
            return jax.tree.map(lambda p, m: p - (0.1 * m).astype(p.dtype), parameters, momenta), momenta, losses

        return train_step, (parameters, parameters, tokens), (0, 1)
    return make


def decoder_step(sizes, room, chip="v5e:2x2", scanned=False):
    """One token for each sequence of a batch: keys and values of all before lie in caches, which it returns grown."""
    def make(change):
        arrays = Arrays(chip, change)
        batch, width = sizes.batch // change.batch_divisor, sizes.width
        length = room // change.length_divisor
        parameters = transformer_parameters(arrays, sizes, scanned)
        shape = (batch, length, sizes.heads, width // sizes.heads)

        def cache():
            whole = (sizes.layers, *shape) if scanned else shape
            split = int(scanned) if change.shard == "all" else None
            return {"k": arrays.array(whole, BF16, split), "v": arrays.array(whole, BF16, split)}

        caches = cache() if scanned else [cache() for _ in range(sizes.layers)]
        tokens = arrays.batch((batch, 1), jnp.int32)
        place = arrays.array((), jnp.int32)

        def layer_of(layer, cache, x, place):
            query, key, value = (t.reshape(batch, 1, sizes.heads, -1)
                                 for t in jnp.split(normalize(x, layer["norm1"]) @ layer["qkv"].astype(x.dtype), 3, -1))
            k = jax.lax.dynamic_update_slice(cache["k"], key.astype(BF16), (0, place, 0, 0))
            v = jax.lax.dynamic_update_slice(cache["v"], value.astype(BF16), (0, place, 0, 0))
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, k) / np.sqrt(width // sizes.heads)
            scores = jnp.where(jnp.arange(length) <= place, scores.astype(F32), -1e9)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1).astype(x.dtype), v)
            x = x + mixed.reshape(batch, 1, width) @ layer["out"].astype(x.dtype)
            return x + think(layer, normalize(x, layer["norm2"])), {"k": k, "v": v}

        def decode(parameters, caches, tokens, place):
            x = parameters["embedding"].astype(BF16)[tokens]
            if scanned:
                x, grown = jax.lax.scan(lambda x, one: layer_of(*one, x, place), x, (parameters["layers"], caches))
            else:
                grown = []
                for layer, cache in zip(parameters["layers"], caches):
                    x, one = layer_of(layer, cache, x, place)
                    grown.append(one)
            return jnp.argmax((x @ parameters["head"].astype(x.dtype)).astype(F32), -1), grown

        return decode, (parameters, caches, tokens, place), (1,)
    return make


def recurrent(width, batch, length, chip="v5e:2x2"):
    """An LSTM over time, as wide as what it reads: a loop over time is no stack of layers."""
    def make(change):
        arrays = Arrays(chip, change)
        parameters = {name: {"in": arrays.parameter((width, 4 * width)), "again": arrays.parameter((width, 4 * width)),
                             "bias": arrays.parameter((4 * width,), None)} for name in ("low", "high")}
        shape = (length // change.length_divisor, batch // change.batch_divisor, width)
        rows = arrays.array(shape, F32, 1 if change.shard == "all" else None)

        def run(layer, rows):
            def cell(carry, x):
                hidden, memory = carry
                i, f, g, o = jnp.split(x @ layer["in"] + hidden @ layer["again"] + layer["bias"], 4, -1)
                memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
                hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
                return (hidden, memory), hidden
            zeros = jnp.zeros(rows.shape[1:], rows.dtype)
            return jax.lax.scan(maybe_remat(change, cell), (zeros, zeros), rows)[1]

        def loss_of(parameters, rows):
            made = run(parameters["high"], run(parameters["low"], rows))
            return jnp.mean(jnp.square(made[:-1] - rows[1:]))

        step = widened(adam_step(loss_of)) if change.stored == BF16 else adam_step(loss_of)
        return step, (parameters, parameters, parameters, rows), (0, 1, 2)
    return make


# --- Families ---

@dataclasses.dataclass(frozen=True)
class Family:
    make: object
    variants: tuple = USUAL
    base: Change = Change()
    held_out: bool = False  # no rule was made or tuned for it: how far to trust the others
    options: dict = dataclasses.field(default_factory=dict)  # of the compiler


def of(model, chip="v5e:2x2"):
    """A model of advice_structures.py as families have them."""
    return lambda change: model(Arrays(chip, change), change)


def unseen_families(listed, chip):
    return {name: Family(of(one.make, chip), one.variants, Change(donate=one.is_donated), one.is_held_out)
            for name, one in listed.items()}


GPT_4 = Sizes(4, 768, 3072, 32000, 12, 16, 512)
SCAN_12 = Sizes(12, 1024, 4096, 32000, 16, 4, 1024)
SMALL = Sizes(2, 512, 2048, 8192, 8, 16, 512)
DONATED = Change(donate=True)
SIZES = ("bf16_parameters", "halve_batch", "shard_parameters", "shard_all")
KEPT = (*SIZES, "rematerialize")
IN_F32 = USUAL + ("bf16_parameters.follow", "bf16_temporaries")
FAMILIES = {
    "gpt_unrolled_4": Family(transformer(GPT_4)),
    "gpt_donated_3": Family(transformer(Sizes(3, 1024, 4096, 50257, 16, 4, 1024)), KEPT, DONATED),
    "gpt_gated_8": Family(transformer(Sizes(8, 1024, 2816, 16000, 8, 8, 1024, is_gated=True), chip="v6e:2x2")),
    "gpt_too_big": Family(transformer(Sizes(6, 1024, 4096, 50304, 16, 32, 1024)), KEPT, DONATED),
    "gpt_scan_12": Family(transformer(SCAN_12, scanned=True)),
    "gpt_scan_10": Family(transformer(Sizes(10, 1024, 4096, 32000, 16, 4, 1024), scanned=True)),
    "gpt_scan_remat_24": Family(transformer(Sizes(24, 1024, 4096, 32000, 16, 8, 1024), scanned=True),
                                ("donate_inputs", *SIZES), Change(rematerialize=True)),
    "gpt_scan_too_big": Family(transformer(Sizes(16, 1024, 4096, 32000, 16, 16, 1024), scanned=True), KEPT, DONATED),
    "gpt_f32_2": Family(transformer(SMALL, computed=F32), IN_F32),
    "gpt_inference": Family(transformer(GPT_4, trains=False), SIZES),
    "moe_2": Family(transformer(Sizes(2, 512, 2048, 32000, 8, 16, 512, experts=8))),
    "moe_scan_6": Family(transformer(Sizes(6, 768, 1536, 32000, 12, 8, 512, experts=16), scanned=True,
                                     chip="v6e:2x2")),
    "dense_8": Family(dense(8, 2048, 4096), IN_F32),
    "dense_wide_6": Family(dense(6, 4096, 16384, step_of=momentum_step), IN_F32),
    "residual": Family(residual_network((64, 128), 1, 128, 128), IN_F32),
    "residual_wide": Family(residual_network((128, 256), 1, 64, 512), IN_F32),
    "residual_bf16": Family(residual_network((64, 128, 256), 2, 160, 256, computed=BF16)),
    "gpt_scan_1025": Family(transformer(Sizes(8, 768, 3072, 16000, 12, 4, 1025), scanned=True, length=1024), (
        "align_dimensions",)),
    "dense_2050": Family(dense(6, 2050, 2048, aligned=2048), ("align_dimensions",)),
    "dense_1030": Family(dense(4, 1030, 8192, aligned=1024), ("align_dimensions",)),
    "accumulate_6": Family(accumulating(Sizes(6, 768, 3072, 16000, 12, 4, 512), 8)),
    "accumulate_donated_4": Family(accumulating(Sizes(4, 1024, 4096, 32000, 16, 8, 512), 4), KEPT, DONATED),
    "decode_8": Family(decoder_step(Sizes(8, 1024, 4096, 32000, 16, 16, 1), 1024), ("donate_inputs", *SIZES)),
    "decode_scan_12": Family(decoder_step(Sizes(12, 768, 3072, 16000, 12, 8, 1), 2048, scanned=True), (
        "donate_inputs", *SIZES)),
    "lstm_1024": Family(recurrent(1024, 256, 128)),
    "accumulate_named_10": Family(of(structures.accumulation(10, 640, 2560, 10, 24000, 8, 8, 512))),
    "cache_dict_6": Family(of(structures.cache_in_dict(6, 1024, 3584, 8, 4, 24000, 24, 1536)), (
        "donate_inputs", *SIZES)),
    "cache_stack_7": Family(of(structures.cache_in_one_array(7, 1024, 8, 20000, 12, 1024)), ("donate_inputs", *SIZES)),
    "gru_768": Family(of(structures.gated_recurrent(768, 128, 192))),
    "eights_4": Family(of(structures.eights(4, 1024, 2048, 24000, 512))),
    "lora_8": Family(of(structures.low_rank(8, 1536, 4096, 12, 32000, 16, 4, 1024))),
    "bottlenecks_2352": Family(of(structures.bottlenecks((2, 3, 5, 2), 64, 160, 64))),
    "u_net_4": Family(of(structures.u_net((32, 64, 128, 256), 256, 16))),
    "two_towers_6": Family(of(structures.two_towers(6, 300000, 64, 20, 512, 8192))),
    "graph_3": Family(of(structures.message_passing(3, 60000, 400000, 128)), (
        "donate_inputs", "bf16_parameters", "rematerialize", "shard_parameters")),
    "shared_edges_3": Family(of(structures.shared_edges(3, 12000, 40000, 96, 24))),
    "gated_pairs_4": Family(of(structures.gated_pairs(4, 384, 128, 512, 8, 160, 96))),
    "mixer_12": Family(of(later.mixer(12, 196, 768, 384, 16, 128))),
    "grouped_16": Family(of(later.grouped_heads(16, 2048, 5632, 4, 16, 32000, 4, 1024))),
    "denoiser_128": Family(of(later.denoiser((64, 128, 256), 128, 64)), ("donate_inputs", *SIZES)),
    "gpt_print": Family(transformer(SMALL), ("remove_debug_print",), Change(prints=True)),
}
ALSO = {
    "gpt_unrolled_4": ("halve_sequence", "micro_batch", "rematerialize_dots"),
    "gpt_scan_12": ("halve_sequence", "micro_batch", "rematerialize_dots"),
    "gpt_f32_2": ("halve_sequence", "micro_batch", "rematerialize_dots"),
    "accumulate_6": ("halve_sequence",),
    "lstm_1024": ("halve_sequence",),
    "gpt_inference": ("halve_sequence", "int8_weights"),
    "decode_8": ("halve_sequence", "int8_weights"),
    "decode_scan_12": ("halve_sequence", "int8_weights"),
    "gpt_donated_3": ("halve_sequence", "micro_batch", "rematerialize_dots"),
    "gpt_gated_8": ("halve_sequence", "micro_batch", "rematerialize_dots"),
    "moe_2": ("halve_sequence", "micro_batch"),
    "dense_8": ("micro_batch", "rematerialize_dots"),
    "moe_scan_6": ("rematerialize_dots",),
    "residual_bf16": ("micro_batch",),
    "gpt_scan_10": ("micro_batch", "rematerialize_dots"),
    "gpt_too_big": ("micro_batch", "rematerialize_dots"),
    "gpt_scan_too_big": ("rematerialize_dots",),
    "dense_wide_6": ("micro_batch", "rematerialize_dots"),
    "residual_wide": ("micro_batch",),
}
TOGETHER = {  # changes that are made at once: pairs, and what plans for some capacities are made of
    "gpt_unrolled_4": (*TWO, "donate_inputs+halve_sequence", "donate_inputs+halve_batch+halve_sequence"),
    "gpt_gated_8": (*TWO, "donate_inputs+rematerialize+halve_batch"),
    "gpt_scan_10": TWO,
    "gpt_scan_12": TWO,
    "moe_2": (*TWO, "donate_inputs+halve_batch+halve_sequence"),
    "moe_scan_6": TWO,
    "accumulate_6": TWO,
    "dense_8": (*TWO, "donate_inputs+shard_parameters", "donate_inputs+bf16_temporaries"),
    "dense_wide_6": TWO,
    "residual": (*TWO, "bf16_temporaries+shard_all", "bf16_temporaries+shard_parameters",
                 "bf16_temporaries+halve_batch"),
}
PLANNED = ("donate_inputs+rematerialize_dots", "donate_inputs+micro_batch")
IN_8 = ("micro_batch.8",)
IN_MORE = (*IN_8, "micro_batch.16", "donate_inputs+micro_batch.8")
MORE_PARTS = {"gpt_unrolled_4": IN_MORE, "moe_2": IN_MORE, "gpt_gated_8": IN_8, "gpt_too_big": IN_8, "dense_8": IN_8,
              "dense_wide_6": IN_8, "residual_bf16": IN_8, "residual_wide": IN_8}
OFFLOADED = ("host_offload_optimizer", "host_offload_activations")
ON_HOST = {name: OFFLOADED for name in (
    "gpt_unrolled_4", "gpt_donated_3", "gpt_gated_8", "gpt_too_big", "gpt_scan_12", "gpt_scan_10", "gpt_scan_too_big",
    "gpt_f32_2", "moe_2", "moe_scan_6", "dense_8", "dense_wide_6", "residual", "residual_wide", "residual_bf16",
    "accumulate_6", "accumulate_donated_4")}
for _name in ("gpt_unrolled_4", "gpt_gated_8", "gpt_scan_10", "gpt_scan_12", "moe_2"):
    TOGETHER[_name] += PLANNED
for _name, _more in (*ALSO.items(), *TOGETHER.items(), *MORE_PARTS.items(), *ON_HOST.items()):
    FAMILIES[_name] = dataclasses.replace(FAMILIES[_name], variants=FAMILIES[_name].variants + _more)
FAMILIES |= unseen_families(unseen.TPU | unseen.LAST_TPU | unseen.BLIND_TPU | unseen.EXAM_TPU | unseen.LIBRARY_TPU |
                            unseen.REPOS_TPU | unseen.FRESH_TPU | kinds.TPU | typical.TPU | practice.TPU |
                            field.TPU | trial.TPU | proof.TPU | verdict.TPU | aside.TPU | jury.TPU | panel.TPU |
                            board.TPU | court.TPU | summit.TPU | rally.TPU | tour.TPU, "v5e:2x2")
for _name in ("lstm_1024", "gru_768", "text_to_text_4", "rotary_decoder_8", "normed_heads_12", "latent_keys_9",
              "preferred_answers_8", "flax_gpt2_5", "flax_llama_7", "second_axis_decoder_11", "mapped_blocks_7",
              "state_chunks_6", "grouped_answers_6", "masked_patches_4", "sharpness_aware_4", "turned_matrices_5",
              "byte_weights_20", "films_3", "paired_atoms_4", "crossed_features_7"):
    FAMILIES[_name] = dataclasses.replace(FAMILIES[_name], variants=FAMILIES[_name].variants + OFFLOADED[:1])


# --- Compiling ---

LAST_BEFORE_CODE = ("*.after_optimizations_after_buffer_assignment.hlo.pb", "*gpu_after_optimizations-memory-usage*.pb")
MODULE = "*after_optimizations.hlo.pb"
COMPILE_SECONDS, POLL_SECONDS = 600, 0.2


def compile_all(family, change, dump):
    """The whole compilation, which takes its time only after the module and its buffers are written."""
    program, arguments, donated = family.make(change)
    if change.offload == "optimizer":
        program, arguments = with_state_on_host(program, arguments, donated)
    lowered = jax.jit(program, donate_argnums=donated if change.donate else ()).lower(*arguments)
    try:
        lowered.compile(compiler_options={"xla_dump_to": dump, "xla_dump_hlo_as_proto": True, **family.options})
    except jax.errors.JaxRuntimeError as error:
        if "E1000" not in str(error):
            raise


def wait_for_module(child, dump):
    """Until the compiler has written its module and begins with machine code, which nobody here needs, or ends."""
    ends = time.monotonic() + COMPILE_SECONDS
    while child.is_alive() and time.monotonic() < ends and not any(any(dump.glob(last)) for last in LAST_BEFORE_CODE):
        time.sleep(POLL_SECONDS)
    child.join(POLL_SECONDS)
    child.kill()
    child.join()


def compile_to(file, family, change):
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as dump:
        child = multiprocessing.get_context("fork").Process(target=compile_all, args=(family, change, dump))
        child.start()
        wait_for_module(child, pathlib.Path(dump))
        modules = list(pathlib.Path(dump).glob(MODULE))
        if not modules:
            raise SystemExit(f"{file.parent.name}/{file.name}: the compiler wrote no module")
        shutil.copyfile(max(modules, key=lambda path: path.stat().st_size), file)


def differing_fields(name):
    if name == "remove_debug_print":
        return {"prints": False}
    one = CHANGES[name]
    return {field.name: getattr(one, field.name) for field in dataclasses.fields(one)
            if getattr(one, field.name) != field.default}


def changes_of(family):
    """Variant -> Change; the base first."""
    changes = {"base": family.base}
    for name in family.variants:
        differing = {}
        for part in name.split("+"):
            differing |= differing_fields(part)
        changes[name] = dataclasses.replace(family.base, **differing)
    return changes


def wanted_variants(wanted, families):
    """(family, variant) of each; of those named FAMILY or FAMILY/VARIANT when any are, in the order they are named."""
    for name in wanted or families:
        family, _, variant = name.partition("/")
        yield from ((family, one) for one in (["base", variant] if variant else changes_of(families[family])))


def main(folder, wanted, families=None):
    families = families or FAMILIES
    folder = pathlib.Path(folder)
    index = {}
    for name, variant in dict.fromkeys(wanted_variants(wanted, families)):
        started = time.perf_counter()
        file = folder / name / f"{variant}.hlo.pb"
        compile_to(file, families[name], changes_of(families[name])[variant])
        index.setdefault(name, {})[variant] = str(file.relative_to(folder))
        print(f"{name}/{variant}: {time.perf_counter() - started:.1f} s", flush=True)
    (folder / "index.json").write_text(json.dumps(index, indent=1))
    (folder / "held_out.json").write_text(json.dumps([name for name in index if families[name].held_out]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
