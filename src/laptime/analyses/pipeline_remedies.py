"""What to change where an operator of a data pipeline is slow. Imports nothing heavy: texts of findings use it."""

from __future__ import annotations

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
REMEDIES = {
    "mindspore": _MINDSPORE,
    "pytorch": _PYTORCH,
    "megengine": _MEGENGINE,
    "jax": _ITERATOR,
    "python": _ITERATOR,
}
"""By framework and start of the operator's type; the empty one is for any other."""


def remedy_of(framework: str, op_type: str) -> tuple[str, str]:
    """Which remedy fits a slow operator: framework and kind of operator, as keys of `REMEDIES`; any kind is empty."""
    known = framework if framework in REMEDIES else "mindspore"
    return known, next(name for name in REMEDIES[known] if op_type.lower().startswith(name))


def advice(framework: str, op_type: str) -> str:
    """What to change where an operator is slow, in the framework's own words."""
    known, kind = remedy_of(framework, op_type)
    return REMEDIES[known][kind]
