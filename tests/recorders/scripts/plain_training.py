"""Trains without a framework under laptime; prints what it did and measured, as JSON."""

import gc
import json
import sys
import threading
import time

import laptime


class Node:
    pass


def batches(count):
    for number in range(count):
        time.sleep(0.06)
        yield number


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


def collect():
    """Leaves enough garbage that collecting it takes a while."""
    for _ in range(20_000):
        node = Node()
        node.own = node
    begin = time.perf_counter_ns()
    gc.collect()
    return time.perf_counter_ns() - begin


def in_a_thread():
    with laptime.scope("helper"):
        time.sleep(0.01)


did = {"waits_ns": [], "steps_ns": [], "collections_ns": []}
gc.disable()
with laptime.Profiler(sys.argv[1], with_backtrace=True) as prof:
    begin = time.perf_counter_ns()
    for _ in prof.watch(batches(5)):
        did["waits_ns"].append(time.perf_counter_ns() - begin)
        with laptime.scope("train"), laptime.scope("inner"):
            compute(0.03)
        helper = threading.Thread(target=in_a_thread, name="helper")
        helper.start()
        helper.join()
        did["collections_ns"].append(collect())
        prof.step()
        did["steps_ns"].append(time.perf_counter_ns() - begin)
        begin = time.perf_counter_ns()
print(json.dumps(did))
