"""Record the training of a small network with JAX, by laptime.

Two things are slow on purpose, so that a profile has something to show:

* The source of batches sleeps 15 ms for each.
* The batches of the second half are longer, so that JAX compiles the step anew: one step stands out.

    python record_jax.py jax-cpu

Needs jax (recorded with 0.10.2 on the CPU) and laptime (`pip install --no-deps`).
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import laptime

STEPS, WIDTH = 8, 256


def loss_of(params, inputs, targets):
    for weights in params:
        inputs = jnp.tanh(inputs @ weights)
    return jnp.mean((inputs - targets) ** 2)


@jax.jit
def train_step(params, inputs, targets):
    loss, gradients = jax.value_and_grad(loss_of)(params, inputs, targets)
    return [weights - 0.01 * gradient for weights, gradient in zip(params, gradients, strict=True)], loss


def batches():
    for number in range(STEPS):
        time.sleep(0.015)
        rows = 512 if number < STEPS // 2 else 768
        yield np.ones((rows, WIDTH), np.float32), np.zeros((rows, WIDTH), np.float32)


def main():
    params = [jnp.eye(WIDTH) * 0.5 for _ in range(4)]
    params, _ = train_step(params, *next(batches()))  # compiles before the recording
    with laptime.Profiler(sys.argv[1]) as profiler:
        for inputs, targets in profiler.watch(batches()):
            params, loss = train_step(params, inputs, targets)
            loss.block_until_ready()
            profiler.step()


if __name__ == "__main__":
    main()
