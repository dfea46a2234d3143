"""A large trace of a training loop on the CPU, for scripts/make-bench-inputs: cpu_trace.py OUT_FOLDER SIZE_BYTES.

A first short trace tells how many bytes one step is worth in this version of JAX; the second has about SIZE_BYTES.
"""
import os
import pathlib
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

LAYERS, WIDTH, ROWS = 24, 64, 32
FIRST_STEPS = 150


def forward(weights, rows):
    for weight in weights:
        rows = rows + jax.nn.silu(rows @ weight)
    return rows


@jax.jit
def step(weights, rows):
    loss, slopes = jax.value_and_grad(lambda w: jnp.square(forward(w, rows)).mean())(weights)
    return loss, [weight - 1e-3 * slope for weight, slope in zip(weights, slopes)]


@jax.jit
def next_rows(key):
    return jax.random.normal(key, (ROWS, WIDTH))


def trace(folder, weights, steps):
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    options.host_tracer_level = 2
    with jax.profiler.trace(str(folder), profiler_options=options):
        for i in range(steps):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                loss, weights = step(weights, next_rows(jax.random.key(i)))
        loss.block_until_ready()
    return next(pathlib.Path(folder).rglob("*.xplane.pb"))


def main():
    out, wanted_bytes = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    weights = [0.02 * jax.random.normal(jax.random.key(i), (WIDTH, WIDTH)) for i in range(LAYERS)]
    step(weights, next_rows(jax.random.key(0)))[0].block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        step_bytes = trace(folder, weights, FIRST_STEPS).stat().st_size / FIRST_STEPS
    print(trace(out, weights, round(wanted_bytes / step_bytes)))


if __name__ == "__main__":
    main()
