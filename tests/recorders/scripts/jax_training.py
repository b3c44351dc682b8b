"""Trains a small model with JAX under laptime in each of the modes asked for; prints what it did and measured."""

import functools
import json
import queue
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

import laptime

STEPS, SIZE = 5, 128
compiled = {"ns": 0}


def on_event(name, seconds, **_):
    if name.endswith("backend_compile_duration"):
        compiled["ns"] += int(seconds * 1e9)


jax.monitoring.register_event_duration_secs_listener(on_event)


def model(params, x):
    for weights in params:
        x = jnp.tanh(x @ weights)
    return x


def loss_of(params, x, y):
    return jnp.mean((model(params, x) - y) ** 2)


@jax.jit
def train_step(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return [weights - 0.01 * gradient for weights, gradient in zip(params, gradients, strict=True)], loss


def batches(count, pause=0.0, grow=0):
    for number in range(count):
        time.sleep(pause)
        rows = 1024 + grow * (number + 1)
        yield np.ones((rows, SIZE), np.float32), np.ones((rows, SIZE), np.float32)


def prefetched(source):
    ready = queue.Queue(3)

    def fill():
        for batch in source:
            ready.put(batch)
        ready.put(None)

    threading.Thread(target=fill, daemon=True).start()
    while (batch := ready.get()) is not None:
        yield batch


def train(prof, loader, params, marks=True):
    did = {"steps_ns": [], "waits_ns": []}
    iterator, begin = iter(prof.watch(loader)), time.perf_counter_ns()
    for x, y in iterator:
        did["waits_ns"].append(time.perf_counter_ns() - begin)
        with laptime.scope("update"):
            params, loss = train_step(params, x, y)
        with laptime.scope("read loss"):
            float(loss)
        if marks:
            prof.step()
        did["steps_ns"].append(time.perf_counter_ns() - begin)
        begin = time.perf_counter_ns()
    return {**did, "loss": float(loss)}


def two_windows(folder, params):
    schedule = laptime.schedule(wait=1, active=2, repeat=2)
    with laptime.Profiler(folder, schedule=schedule) as prof:
        return train(prof, batches(7), params)


def asynchronous(folder, params):
    with laptime.Profiler(folder) as prof:
        for x, y in prof.watch(batches(STEPS)):
            params, loss = train_step(params, x, y)
            prof.step()
    return {"loss": float(loss)}


def second_trace(folder, params):
    with laptime.Profiler(folder) as prof, jax.profiler.trace(f"{folder}-own"):
        return train(prof, batches(STEPS), params)


def own_trace(folder, params):
    with jax.profiler.trace(f"{folder}-own"), laptime.Profiler(folder) as prof:
        return train(prof, batches(STEPS), params)


def exception(folder, params):
    try:
        with laptime.Profiler(folder) as prof:
            train(prof, batches(3), params)
            raise KeyError("the user's")
    except KeyError as error:
        return {"raised": str(error)}


def terminated(folder, params):
    with laptime.Profiler(folder) as prof:
        train(prof, batches(3), params)
        print("trained", flush=True)
        time.sleep(60)


def loop(folder, params, *, marks=True, with_backtrace=False, **kind):
    loader = batches(STEPS, **kind)
    with laptime.Profiler(folder, with_backtrace=with_backtrace) as prof:
        return train(prof, prefetched(loader) if "pause" in kind else loader, params, marks=marks)


MODES = {
    "plain": loop,
    "no_steps": functools.partial(loop, marks=False),
    "backtrace": functools.partial(loop, with_backtrace=True),
    "input": functools.partial(loop, pause=0.05),
    "recompile": functools.partial(loop, grow=1),
    **{made.__name__: made for made in (two_windows, asynchronous, second_trace, own_trace, exception, terminated)},
}

params = [jnp.ones((SIZE, SIZE)) * 0.01 for _ in range(2)]
float(train_step(params, *next(batches(1)))[1])
for mode in sys.argv[2:]:
    compiled["ns"] = 0
    print(f"== {mode}", file=sys.stderr, flush=True)
    result = MODES[mode](f"{sys.argv[1]}/{mode}", params)
    print(json.dumps({**result, "mode": mode, "compiled_ns": compiled["ns"]}))
