"""The stages of a data pipeline whose work was timed, and what to change where one is slow.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

import numpy as np

from laptime.model.arrays import BoolArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE

StageTimes = dict[str, tuple[int, int]]
"""By type of operator: batches, and nanoseconds over all of them and all workers."""


def named(trace: Trace, name: str) -> BoolArray:
    """Slices of a name."""
    codes = [code for code, text in enumerate(trace.slices.texts("name")) if text == name]
    return np.isin(trace.slices["name"], codes)


def stage_times(trace: Trace, op_types: set[str]) -> StageTimes:
    """Times of the data slices that bear the name of a stage, in whatever process they ran."""
    data = (trace.slices["kind"] == KIND_CODE["data"]) & (trace.slices["dur_ns"] >= 0)
    found = {}
    for op_type in sorted(op_types):
        chosen = data & named(trace, op_type)
        if chosen.any():
            found[op_type] = (int(np.count_nonzero(chosen)), int(trace.slices["dur_ns"][chosen].sum()))
    return found


_MINDSPORE = {
    "map": "raise num_parallel_workers of map, use C++ transforms for Python ones, or python_multiprocessing=True",
    "batch": "raise prefetch_size (ds.config.set_prefetch_size) and num_parallel_workers of batch",
    "generator": "raise num_parallel_workers of GeneratorDataset, make the source faster, or convert it to MindRecord",
    "shuffle": "lower buffer_size of shuffle, or shuffle when reading (shuffle=True of the dataset)",
    "": "raise num_parallel_workers of the dataset, read from faster storage, or convert the data to MindRecord",
}
_PYTORCH = {
    "fetch": "raise num_workers of the DataLoader, read from faster storage, or make the dataset's __getitem__ cheaper",
    "collate": "make collate_fn cheaper, have the dataset return whole batches (__getitems__), or raise num_workers",
    "pin": "send fewer or smaller tensors, or pin only those that go to the device; pinning is one thread's work",
    "": "raise num_workers or prefetch_factor of the DataLoader",
}
_MEGENGINE = {
    "transform": "raise num_workers of the DataLoader, or make the transform cheaper",
    "collate": "make the collator cheaper, or raise num_workers of the DataLoader",
    "": "raise num_workers of the DataLoader, or make the longest of fetch, transform and collate faster",
}
_ITERATOR = {"": "prepare batches in more threads or processes, or make what prepares them faster"}
_BY_FRAMEWORK = {
    "mindspore": _MINDSPORE,
    "pytorch": _PYTORCH,
    "megengine": _MEGENGINE,
    "jax": _ITERATOR,
    "python": _ITERATOR,
}


def advice(framework: str, op_type: str) -> str:
    """What to change where an operator is slow, in the framework's own words."""
    texts, kind = _BY_FRAMEWORK.get(framework, _MINDSPORE), op_type.lower()
    return next(text for name, text in texts.items() if kind.startswith(name))
