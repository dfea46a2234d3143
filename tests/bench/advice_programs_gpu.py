"""Programs before and after one change, compiled for an H100 without one: advice_programs_gpu.py FOLDER [FAMILY...].

What advice_programs.py does for TPUs, with the same models and some of other authors, or that only a GPU has (cuDNN's
attention, which jax does not split over devices). Each family is compiled twice: products as calls of cuBLAS
(NAME_library) and as Triton's fusions (NAME_triton); those of the last sets as the first only.
"""
import dataclasses
import sys

import advice_programs as common  # before jax: it says which platforms there are
from advice_programs import BF16, F32, Arrays, Change, Family, Sizes, adam_step, maybe_remat, momentum_step
import advice_aside_families as aside
import advice_board_families as board
import advice_court_families as court
import advice_jury_families as jury
import advice_kinds_families as kinds
import advice_panel_families as panel
import advice_rally_families as rally
import advice_summit_families as summit
import advice_tour_families as tour
import advice_trial_families as trial
import advice_unseen_families as unseen
import advice_verdict_families as verdict

import jax
import jax.numpy as jnp
import numpy as np

H100 = "h100:1x1x4"  # slices x hosts x devices


def cross_entropy(scores, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(scores.astype(F32)), labels[..., None], -1)
    return -jnp.mean(chosen)


def split_heads(x, heads):
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)


def scaled(layer_norm, x):
    centred = x - jnp.mean(x, -1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + 1e-5) * layer_norm.astype(x.dtype)


def repeat(block, layers, x, scanned):
    if scanned:
        return jax.lax.scan(lambda x, layer: (block(layer, x), None), x, layers)[0]
    for layer in layers:
        x = block(layer, x)
    return x


def layers_of(arrays, count, shapes, scanned):
    def made(lead):
        return {name: arrays.parameter((*lead, *shape), len(lead) if len(shape) > 1 else None)
                for name, shape in shapes.items()}
    return made((count,)) if scanned else [made(()) for _ in range(count)]


def trained(change, loss_of, parameters, batch, step_of=adam_step):
    state = (parameters,) * (3 if step_of is adam_step else 2)
    step = step_of(loss_of)
    if change.stored == BF16 and not change.follows:
        step = common.widened(step)
    return step, (*state, *batch), tuple(range(len(state)))


# --- Attention by cuDNN ---

def without_a_device():
    """jax asks the device at hand whether its cuDNN will do; there is none, and the compiler needs none."""
    from jax._src.cudnn import fused_attention_stablehlo as fused
    fused.check_cudnn_version = lambda: 91000
    fused.check_compute_capability = lambda *_: True


def flash_decoder(sizes, scanned=False):
    def make(change):
        without_a_device()
        arrays, width = Arrays(H100, change), sizes.width
        shapes = {"query": (width, width), "key": (width, width), "value": (width, width), "out": (width, width),
                  "up": (width, sizes.hidden), "down": (sizes.hidden, width), "norm1": (width,), "norm2": (width,)}
        parameters = {"table": arrays.parameter((sizes.vocabulary, width)),
                      "layers": layers_of(arrays, sizes.layers, shapes, scanned)}
        tokens = arrays.batch((sizes.batch // change.batch_divisor, sizes.length), jnp.int32)

        def block(layer, x):
            layer = jax.tree.map(lambda t: t.astype(BF16), layer)
            h = scaled(layer["norm1"], x)
            query, key, value = (split_heads(h @ layer[name], sizes.heads) for name in ("query", "key", "value"))
            mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True, implementation="cudnn")
            x = x + mixed.reshape(x.shape) @ layer["out"]
            return x + jax.nn.gelu(scaled(layer["norm2"], x) @ layer["up"]) @ layer["down"]

        def loss_of(parameters, tokens):
            x = parameters["table"][tokens].astype(BF16)
            x = repeat(maybe_remat(change, block), parameters["layers"], x, scanned)
            return cross_entropy((x @ parameters["table"].T.astype(BF16))[:, :-1], tokens[:, 1:])
        return trained(change, loss_of, parameters, (tokens,))
    return make


# --- Tables of many rows ---

def two_towers(rows, width, batch, slots):
    """Users and items, each the mean of some rows of a table; both towers' products are scored against each other."""
    def make(change):
        arrays, size = Arrays(H100, change), batch // change.batch_divisor
        tower = {"table": arrays.parameter((rows, width)), "hidden": arrays.parameter((width, 4 * width)),
                 "out": arrays.parameter((4 * width, width))}
        parameters = {"user": tower, "item": tower}
        ids = arrays.batch((size, slots), jnp.int32)

        def run(tower, ids):
            x = jnp.mean(tower["table"][ids], 1)
            return jax.nn.relu(x @ tower["hidden"]) @ tower["out"]

        def loss_of(parameters, users, items):
            scores = run(parameters["user"], users) @ run(parameters["item"], items).T
            return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(scores)))
        return trained(change, loss_of, parameters, (ids, ids), momentum_step)
    return make


# --- Other models, by other authors: kept aside ---

def vision(layers, width, heads, batch, side, patch, scanned):
    def make(change):
        arrays, size = Arrays(H100, change), batch // change.batch_divisor
        shapes = {"qkv": (width, 3, width), "proj": (width, width), "w1": (width, 4 * width), "b1": (4 * width,),
                  "w2": (4 * width, width), "g": (width,), "h": (width,)}
        parameters = {"patches": arrays.parameter((patch, patch, 3, width), 3), "place": arrays.parameter(
            ((side // patch) ** 2, width)), "blocks": layers_of(arrays, layers, shapes, scanned),
            "classes": arrays.parameter((width, 1000))}
        images, labels = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)

        def block(layer, x):
            mixed = jnp.einsum("bnd,dce->bnce", scaled(layer["g"], x), layer["qkv"].astype(x.dtype))
            q, k, v = jnp.moveaxis(mixed, 2, 0)
            q, k, v = (split_heads(t, heads) for t in (q, k, v))
            weights = jax.nn.softmax(jnp.einsum("bnhd,bmhd->bhnm", q, k) * (width // heads) ** -0.5)
            x = x + jnp.einsum("bhnm,bmhd->bnhd", weights, v).reshape(x.shape) @ layer["proj"].astype(x.dtype)
            inner = jax.nn.gelu(scaled(layer["h"], x) @ layer["w1"].astype(x.dtype) + layer["b1"].astype(x.dtype))
            return x + inner @ layer["w2"].astype(x.dtype)

        def loss_of(parameters, images, labels):
            x = jax.lax.conv_general_dilated(images.astype(BF16), parameters["patches"].astype(BF16), (patch, patch),
                                             "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = x.reshape(size, -1, width) + parameters["place"].astype(BF16)
            x = repeat(maybe_remat(change, block), parameters["blocks"], x, scanned)
            return cross_entropy(jnp.mean(x, 1) @ parameters["classes"].astype(BF16), labels)
        return trained(change, loss_of, parameters, (images, labels))
    return make


def autoencoder(widths, side, batch):
    """Down by strided convolutions and up again by transposed ones, with what was on the way down added."""
    numbers = ("NHWC", "HWIO", "NHWC")

    def make(change):
        arrays, size = Arrays(H100, change), batch // change.batch_divisor
        steps = list(zip((3, *widths), widths))
        parameters = {"down": [arrays.parameter((3, 3, a, b), 3) for a, b in steps],
                      "inner": [arrays.parameter((3, 3, b, b), 3) for _, b in steps],
                      "up": [arrays.parameter((3, 3, b, a), 2) for a, b in steps]}
        images = arrays.batch((size, side, side, 3), F32)

        def inner(kernel, x):
            return x + jax.nn.silu(jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers))

        def loss_of(parameters, images):
            x, ways = images, []
            for down, kernel in zip(parameters["down"], parameters["inner"]):
                ways.append(x)
                x = jax.nn.silu(jax.lax.conv_general_dilated(x, down, (2, 2), "SAME", dimension_numbers=numbers))
                x = maybe_remat(change, inner)(kernel, x)
            for up, way in zip(reversed(parameters["up"]), reversed(ways)):
                x = way + jnp.tanh(jax.lax.conv_transpose(x, up, (2, 2), "SAME", dimension_numbers=numbers))
            return jnp.mean(jnp.square(x - images))
        return trained(change, loss_of, parameters, (images,), momentum_step)
    return make


def translator(layers, width, heads, vocabulary, batch, source, target):
    """An encoder and a decoder that looks at it; float32 throughout."""
    def make(change):
        arrays, size = Arrays(H100, change), batch // change.batch_divisor
        mixer = {name: (width, width) for name in ("q", "k", "v", "o")}
        inner = {"w1": (width, 4 * width), "w2": (4 * width, width), "g": (width,), "h": (width,)}
        crossed = {f"cross_{name}": shape for name, shape in mixer.items()} | {"cross_g": (width,)}
        parameters = {"table": arrays.parameter((vocabulary, width)),
                      "encoder": layers_of(arrays, layers, mixer | inner, False),
                      "decoder": layers_of(arrays, layers, mixer | inner | crossed, False)}
        sources = arrays.batch((size, source), jnp.int32)
        targets = arrays.batch((size, target), jnp.int32)

        def mix(layer, x, seen, mask, prefix=""):
            q = split_heads(x @ layer[prefix + "q"], heads)
            k, v = (split_heads(seen @ layer[prefix + name], heads) for name in ("k", "v"))
            scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(width // heads)
            weights = jax.nn.softmax(jnp.where(mask, scores, -1e9) if mask is not None else scores)
            return jnp.einsum("bhts,bshd->bthd", weights, v).reshape(x.shape) @ layer[prefix + "o"]

        def encode(layer, x):
            h = scaled(layer["g"], x)
            x = x + mix(layer, h, h, None)
            return x + jax.nn.relu(scaled(layer["h"], x) @ layer["w1"]) @ layer["w2"]

        def decode(layer, x, seen):
            h = scaled(layer["g"], x)
            x = x + mix(layer, h, h, jnp.tril(jnp.ones((target, target), bool)))
            x = x + mix(layer, scaled(layer["cross_g"], x), seen, None, "cross_")
            return x + jax.nn.relu(scaled(layer["h"], x) @ layer["w1"]) @ layer["w2"]

        def loss_of(parameters, sources, targets):
            seen = parameters["table"][sources]
            for layer in parameters["encoder"]:
                seen = maybe_remat(change, encode)(layer, seen)
            x = parameters["table"][targets]
            for layer in parameters["decoder"]:
                x = maybe_remat(change, decode)(layer, x, seen)
            return cross_entropy((x @ parameters["table"].T)[:, :-1], targets[:, 1:])
        return trained(change, loss_of, parameters, (sources, targets))
    return make


def gated_units(width, inner, batch, length):
    """Gated recurrent units over time, another width inside than what they read."""
    def make(change):
        arrays, size = Arrays(H100, change), batch // change.batch_divisor
        parameters = {"gates": arrays.parameter((width + inner, 2 * inner)), "new": arrays.parameter(
            (width + inner, inner)), "out": arrays.parameter((inner, width))}
        rows = arrays.batch((size, length, width), F32)

        def loss_of(parameters, rows):
            def unit(hidden, x):
                both = jax.nn.sigmoid(jnp.concatenate([x, hidden], -1) @ parameters["gates"])
                update, reset = jnp.split(both, 2, -1)
                new = jnp.tanh(jnp.concatenate([x, reset * hidden], -1) @ parameters["new"])
                hidden = update * hidden + (1 - update) * new
                return hidden, hidden
            start = jnp.zeros((size, inner), F32)
            made = jax.lax.scan(maybe_remat(change, unit), start, jnp.swapaxes(rows, 0, 1))[1]
            return jnp.mean(jnp.square((made @ parameters["out"])[:-1] - jnp.swapaxes(rows, 0, 1)[1:]))
        return trained(change, loss_of, parameters, (rows,))
    return make


# --- Families ---

USUAL = common.USUAL
SIZES = ("bf16_parameters", "halve_batch", "shard_parameters", "shard_all")
KEPT = (*SIZES, "rematerialize")
ONE_CHIP = ("donate_inputs", "bf16_parameters", "halve_batch", "rematerialize")
DONATED = Change(donate=True)
GPT_4 = Sizes(4, 768, 3072, 32000, 12, 16, 512)
LONG = Sizes(3, 512, 1024, 8192, 8, 2, 4096)


def h100(make, *arguments, **options):
    return make(*arguments, chip=H100, **options)


MODELS = {
    "decoder_4": Family(h100(common.transformer, GPT_4)),
    "decoder_scan_12": Family(h100(common.transformer, Sizes(12, 1024, 4096, 32000, 16, 8, 1024), scanned=True)),
    "gated_6": Family(h100(common.transformer, Sizes(6, 1024, 2816, 16000, 8, 8, 1024, is_gated=True)), KEPT, DONATED),
    "moe_2": Family(h100(common.transformer, Sizes(2, 512, 2048, 32000, 8, 16, 512, experts=8))),
    "dense_8": Family(h100(common.dense, 8, 2048, 4096), USUAL + ("bf16_temporaries",)),
    "decoder_f32_2": Family(h100(common.transformer, Sizes(2, 512, 2048, 8192, 8, 16, 512), computed=F32),
                            USUAL + ("bf16_temporaries",)),
    "residual": Family(h100(common.residual_network, (64, 128), 2, 128, 128), USUAL + ("bf16_temporaries",)),
    "residual_bf16": Family(h100(common.residual_network, (64, 128, 256), 2, 160, 256, computed=BF16)),
    "lstm": Family(h100(common.recurrent, 1024, 256, 128)),
    "inference": Family(h100(common.transformer, GPT_4, trains=False), SIZES),
    "decode_8": Family(h100(common.decoder_step, Sizes(8, 1024, 4096, 32000, 16, 16, 1), 1024),
                       ("donate_inputs", *SIZES)),
    "accumulate_4": Family(h100(common.accumulating, Sizes(4, 768, 3072, 16000, 12, 4, 512), 8)),
    "long_3": Family(h100(common.transformer, LONG), (*ONE_CHIP, "shard_parameters")),  # two are not split four ways
    "flash_scan_6": Family(flash_decoder(Sizes(6, 1024, 4096, 16000, 16, 8, 2048), scanned=True), ONE_CHIP),
    "towers": Family(two_towers(1_000_000, 64, 16384, 20), ("donate_inputs", *SIZES)),
    "vision_4": Family(vision(4, 768, 12, 64, 224, 16, False)),
    "vision_scan_8": Family(vision(8, 512, 8, 32, 256, 16, True)),
    "autoencoder": Family(autoencoder((64, 128, 256), 128, 64)),
    "translator": Family(translator(3, 512, 8, 16000, 32, 384, 256)),
    "gated_units": Family(gated_units(512, 768, 128, 256)),
    "flash_3": Family(flash_decoder(Sizes(3, 768, 3072, 32000, 12, 8, 1024)),
                      ("bf16_parameters", "halve_batch", "rematerialize"), DONATED),
    "decode_scan": Family(h100(common.decoder_step, Sizes(10, 768, 3072, 16000, 12, 12, 1), 2048, scanned=True),
                          ("donate_inputs", *SIZES)),
    "moe_scan": Family(h100(common.transformer, Sizes(6, 512, 1024, 16000, 8, 8, 512, experts=8), scanned=True)),
}
KINDS = (("library", {"xla_gpu_enable_triton_gemm": False}), ("triton", {"xla_gpu_enable_triton_gemm": True}))
UNSEEN = common.unseen_families(unseen.GPU | unseen.LAST_GPU | unseen.BLIND_GPU | unseen.EXAM_GPU | unseen.LIBRARY_GPU |
                                unseen.REPOS_GPU | unseen.FRESH_GPU | kinds.GPU, H100)
OF_LIBRARIES = common.unseen_families(aside.GPU | jury.GPU | trial.GPU | verdict.GPU | panel.GPU | board.GPU |
                                     court.GPU | summit.GPU | rally.GPU | tour.GPU, H100)
IN_PARTS = ("micro_batch", "micro_batch.8", "donate_inputs+micro_batch.8")
OF_TRAINING, OF_SERVING = ("halve_sequence", "rematerialize_dots"), ("halve_sequence", "int8_weights")
ALSO = {name: IN_PARTS for name in ("decoder_4", "decoder_scan_12", "gated_6", "moe_2", "dense_8", "residual_bf16")}
DECODERS = ("decoder_4", "decoder_scan_12", "gated_6", "decoder_f32_2")
ALSO |= {name: (*ALSO.get(name, ()), *OF_TRAINING) for name in DECODERS}
ALSO |= {name: OF_SERVING for name in ("inference", "decode_8", "decode_scan")}
ON_HOST = ("decoder_4", "decoder_scan_12", "gated_6", "moe_2", "dense_8", "residual_bf16", "accumulate_4", "vision_4",
           "vision_scan_8", "flash_scan_6")
ALSO |= {name: (*ALSO.get(name, ()), "host_offload_activations") for name in ON_HOST}  # jax lets go of the place of
# an argument where the device is not there: what host_offload_optimizer makes is in docs/advice.md, from one that was
for _name, _more in ALSO.items():
    MODELS[_name] = dataclasses.replace(MODELS[_name], variants=MODELS[_name].variants + _more)
FAMILIES = {f"{name}_{kind}": dataclasses.replace(family, options=options) for kind, options in KINDS
            for name, family in (MODELS | UNSEEN).items()}
FAMILIES |= {f"{name}_library": dataclasses.replace(family, options=dict(KINDS)["library"])
             for name, family in OF_LIBRARIES.items()}
for _name in ("vision_4_triton", "masked_encoder_4_triton", "normed_heads_16_triton", "many_crops_9_triton",
              "equinox_images_8_triton"):
    del FAMILIES[_name]  # of which the compiler says "INTERNAL: Couldn't find output tile sizes"


if __name__ == "__main__":
    common.main(sys.argv[1], sys.argv[2:], FAMILIES)
