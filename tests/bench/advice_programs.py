"""Programs before and after one change, compiled for a TPU without one: advice_programs.py FOLDER [FAMILY[/CHANGE]...].

A family is one model with its training step; a variant is that program with one change a user would make after an
advice. libtpu compiles each ahead of time, and what comes out is the compiler's own HloProto, buffers included:
    FOLDER/<family>/<variant>.hlo.pb    FOLDER/index.json: {family: {variant: file}}
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
from jax.experimental import topologies  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

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
}
USUAL = ("donate_inputs", "bf16_parameters", "halve_batch", "rematerialize", "shard_parameters", "shard_all")


class Arrays:
    """Abstract arrays of one variant: where they lie on the chips and how they are stored."""

    def __init__(self, chip, change):
        self.change = change
        devices = topologies.get_topology_desc(chip, platform="tpu").devices[:WAYS if change.shard else 1]
        self.mesh = Mesh(np.array(devices), ("x",))

    def array(self, shape, kind, split=None):
        axes = [None] * len(shape)
        if split is not None and self.change.shard:
            axes[next(d for d in (split, *range(len(shape))) if shape[d] % WAYS == 0)] = "x"
        return jax.ShapeDtypeStruct(shape, kind, sharding=NamedSharding(self.mesh, PartitionSpec(*axes)))

    def parameter(self, shape, split=0):
        return self.array(shape, self.change.stored, split)

    def batch(self, shape, kind):
        kind = self.change.stored if kind == F32 else kind
        return self.array(shape, kind, 0 if self.change.shard == "all" else None)


# --- Optimizers ---

def adam_step(loss_of):
    def train_step(parameters, means, squares, *batch):
        loss, slopes = jax.value_and_grad(loss_of)(parameters, *batch)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
        squares = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, squares, slopes)
        parameters = jax.tree.map(lambda p, m, s: p - 1e-3 * m / (jnp.sqrt(s) + 1e-8), parameters, means, squares)
        return parameters, means, squares, loss
    return train_step


def momentum_step(loss_of):
    def train_step(parameters, momenta, *batch):
        loss, slopes = jax.value_and_grad(loss_of)(parameters, *batch)
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


def maybe_remat(change, block):
    return jax.checkpoint(block) if change.rematerialize else block


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
        real = dataclasses.replace(sizes, length=length) if change.aligned else sizes
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
            step = adam_step(loss_of)
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

        step = step_of(loss_of)
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

        step = momentum_step(loss_of)
        step = widened(step) if change.stored == BF16 and not computed and not change.follows else step
        return step, (parameters, parameters, images, labels), (0, 1)
    return make


# --- Families ---

@dataclasses.dataclass(frozen=True)
class Family:
    make: object
    variants: tuple = USUAL
    base: Change = Change()


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
    "gpt_print": Family(transformer(SMALL), ("remove_debug_print",), Change(prints=True)),
}


# --- Compiling ---

LAST_BEFORE_CODE = "*.after_optimizations_after_buffer_assignment.hlo.pb"
MODULE = "*.after_optimizations.hlo.pb"
COMPILE_SECONDS, POLL_SECONDS = 600, 0.2


def compile_all(family, change, dump):
    """The whole compilation, which takes its time only after the module and its buffers are written."""
    program, arguments, donated = family.make(change)
    lowered = jax.jit(program, donate_argnums=donated if change.donate else ()).lower(*arguments)
    try:
        lowered.compile(compiler_options={"xla_dump_to": dump, "xla_dump_hlo_as_proto": True})
    except jax.errors.JaxRuntimeError as error:
        if "E1000" not in str(error):
            raise


def wait_for_module(child, dump):
    """Until the compiler has written its module and begins with machine code, which nobody here needs, or ends."""
    ends = time.monotonic() + COMPILE_SECONDS
    while child.is_alive() and time.monotonic() < ends and not any(dump.glob(LAST_BEFORE_CODE)):
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


def changes_of(family):
    """Variant -> Change; the base first."""
    changes = {"base": family.base}
    for name in family.variants:
        one = CHANGES[name]
        differing = {field.name: getattr(one, field.name) for field in dataclasses.fields(one)
                     if getattr(one, field.name) != field.default}
        if name == "remove_debug_print":
            differing = {"prints": False}
        changes[name] = dataclasses.replace(family.base, **differing)
    return changes


def wanted_variants(wanted):
    """(family, variant) of each; of those named FAMILY or FAMILY/VARIANT when any are, in the order they are named."""
    for name in wanted or FAMILIES:
        family, _, variant = name.partition("/")
        yield from ((family, one) for one in (["base", variant] if variant else changes_of(FAMILIES[family])))


def main(folder, wanted):
    folder = pathlib.Path(folder)
    index = {}
    for name, variant in wanted_variants(wanted):
        started = time.perf_counter()
        file = folder / name / f"{variant}.hlo.pb"
        compile_to(file, FAMILIES[name], changes_of(FAMILIES[name])[variant])
        index.setdefault(name, {})[variant] = str(file.relative_to(folder))
        print(f"{name}/{variant}: {time.perf_counter() - started:.1f} s", flush=True)
    (folder / "index.json").write_text(json.dumps(index, indent=1))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
