"""Take plain facts from the recorded traces, without laptime.

    python tests/samples/pytorch/facts.py          write facts.json
    python tests/samples/pytorch/facts.py --check  compare with facts.json

Standard library only.  Times are read as decimals and given as whole
nanoseconds, so nothing is lost to floating point.
"""

import argparse
import collections
import decimal
import gzip
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FACTS = HERE / "facts.json"
SUFFIXES = (".json", ".json.gz")


def traces():
    """The trace files, in a fixed order."""
    for folder in (ROOT / "examples" / "ddp4-gloo", HERE):
        for path in sorted(folder.rglob("*")):
            if path.name.endswith(SUFFIXES) and path != FACTS:
                yield path


def load(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return json.loads(data, parse_float=decimal.Decimal)


def nanoseconds(microseconds):
    value = decimal.Decimal(microseconds) * 1000
    if value != value.to_integral_value():
        raise ValueError(f"{microseconds} us is no whole number of ns")
    return int(value)


def named_durations(slices):
    return [[event["name"], nanoseconds(event["dur"])] for event in slices]


def facts_of(trace):
    events = trace["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    slices.sort(key=lambda event: decimal.Decimal(event["ts"]))

    def starting(text):
        return [event for event in slices if event["name"].startswith(text)]

    steps = starting("ProfilerStep#")
    loads = starting("enumerate(DataLoader)")
    reduces = [event for event in slices if event["name"] == "gloo:all_reduce"]
    by_category = collections.Counter(event.get("cat") for event in slices)
    distributed = trace.get("distributedInfo", {})
    return {
        "events": len(events),
        "slices_by_cat": dict(sorted(by_category.items())),
        "steps": named_durations(steps),
        "data_loader": named_durations(loads),
        "data_loader_total_ns": sum(nanoseconds(event["dur"]) for event in loads),
        "gloo_all_reduce_count": len(reduces),
        "gloo_all_reduce_total_ns": sum(nanoseconds(event["dur"]) for event in reduces),
        "rank": distributed.get("rank"),
        "world_size": distributed.get("world_size"),
        "memory_events": sum(event["name"] == "[memory]" for event in events),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()

    facts = {path.relative_to(ROOT).as_posix(): facts_of(load(path)) for path in traces()}
    if args.check:
        if facts != json.loads(FACTS.read_text()):
            sys.exit("facts.json does not match the traces")
    else:
        FACTS.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
