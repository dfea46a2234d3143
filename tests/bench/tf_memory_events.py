"""A TensorFlow training loop whose profile holds memory events: tf_memory_events.py FOLDER STEPS.

The events come from TensorFlow's BFC allocator, which the CPU device uses when TF_CPU_ALLOCATOR_USE_BFC is set, and
which tells them to a profiler whose host tracer is at level 2, just as on a GPU. 1400 steps make about 1.3 million
events and 220 MB.
"""
import os
import sys

os.environ.update(TF_CPU_ALLOCATOR_USE_BFC="1", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf  # noqa: E402  (reads the environment when it is imported)

LAYERS, WIDTH, HEADS, TOKENS, BATCH, WORDS = 6, 32, 4, 16, 2, 200


def weight(*shape):
    return tf.Variable(tf.random.normal(shape) * 0.05)


class Block:
    def __init__(self):
        self.query_key_value, self.out = weight(WIDTH, 3 * WIDTH), weight(WIDTH, WIDTH)
        self.wide, self.narrow = weight(WIDTH, 4 * WIDTH), weight(4 * WIDTH, WIDTH)
        self.weights = [self.query_key_value, self.out, self.wide, self.narrow]

    def __call__(self, x):
        heads = tf.reshape(x @ self.query_key_value, [BATCH, TOKENS, 3, HEADS, WIDTH // HEADS])
        query, key, value = tf.unstack(tf.transpose(heads, [2, 0, 3, 1, 4]))
        mixed = tf.nn.softmax(tf.matmul(query, key, transpose_b=True)) @ value
        x += tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [BATCH, TOKENS, WIDTH]) @ self.out
        return x + tf.nn.gelu(x @ self.wide) @ self.narrow


class Adam:
    def __init__(self, weights):
        self.slots = [(w, tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(w))) for w in weights]

    def apply(self, gradients):
        for (weights, mean, square), gradient in zip(self.slots, gradients):
            gradient = tf.convert_to_tensor(gradient)
            mean.assign(0.9 * mean + 0.1 * gradient)
            square.assign(0.99 * square + 0.01 * gradient * gradient)
            weights.assign_sub(1e-3 * mean / (tf.sqrt(square) + 1e-7))


def make_step():
    tf.random.set_seed(1)
    words, places, blocks = weight(WORDS, WIDTH), weight(TOKENS, WIDTH), [Block() for _ in range(LAYERS)]
    weights = [words, places] + [w for block in blocks for w in block.weights]
    adam = Adam(weights)

    @tf.function
    def step(tokens):
        with tf.GradientTape() as tape:
            x = tf.gather(words, tokens) + places
            for block in blocks:
                x = block(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.roll(tokens, -1, 1), logits=tf.matmul(x, words, transpose_b=True)))
        adam.apply(tape.gradient(loss, weights))
        return loss
    return step


def main(folder, steps):
    step = make_step()
    tokens = tf.random.uniform([BATCH, TOKENS], 0, WORDS, dtype=tf.int32)
    step(tokens)
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    tf.profiler.experimental.start(folder, options=options)
    for number in range(steps):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(tokens)
    tf.profiler.experimental.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
