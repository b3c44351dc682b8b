"""Records the sample of laptime's own recorder: plain Python, two windows of three steps, a loader with a queue.

    PYTHONPATH=src python tests/samples/laptime/record.py   (in the root of the repository)

writes plain.laptime.jsonl. Nothing of the machine stays in it: names, paths and numbers of threads are changed.
"""

import gc
import json
import os
import pathlib
import queue
import sys
import tempfile
import threading
import time

import laptime
from laptime.recorders import event_log, plain

HERE = pathlib.Path(__file__).resolve().parent
BATCHES, CAPACITY = 9, 4


class Loader:
    """Batches made by a thread, handed over in a queue."""

    def __init__(self):
        self.queue = queue.Queue(CAPACITY)

    def __iter__(self):
        thread = threading.Thread(target=self._fill, name="loader", daemon=True)
        thread.start()
        for _ in range(BATCHES):
            yield self.queue.get()
        thread.join()

    def _fill(self):
        for number in range(BATCHES):
            with laptime.scope("fetch"):
                time.sleep(0.002 if number < 4 else 0.006)
            self.queue.put(number)


class Probe:
    """Looks into the loader's queue, as recorders of frameworks do."""

    def __init__(self, loader, log):
        self.loader, self.log = loader, log
        log.add("pipeline_op", 0, "Loader", "Loader", 1, None, "batches")

    def iterate(self, loader):
        return iter(loader)

    def before(self):
        self.log.add("queue", "batches", "host", event_log.now(), self.loader.queue.qsize(), CAPACITY)

    def after(self, batch):
        return batch

    def close(self):
        pass


def forward(batch):
    with laptime.scope("forward"):
        with laptime.scope("embed"):
            time.sleep(0.0005)
        with laptime.scope("attend"):
            time.sleep(0.001 + 0.0002 * batch)


def backward():
    with laptime.scope("backward"):
        time.sleep(0.003)


def train(folder):
    plan = laptime.schedule(skip_first=1, wait=1, active=3, repeat=2)
    with laptime.Profiler(folder, schedule=plan, with_backtrace=True) as prof:
        for number, batch in enumerate(prof.watch(Loader())):
            forward(batch)
            backward()
            with laptime.scope("optimizer"):
                time.sleep(0.0007)
            if number == 3:
                gc.collect()
            prof.step()


def main():
    plain.PlainBackend.watch = lambda self, loader, log: Probe(loader, log)
    sys.argv[:] = ["train.py"]
    with tempfile.TemporaryDirectory() as folder:
        train(folder)
        (log,) = pathlib.Path(folder).iterdir()
        text = log.read_text()
    text = text.replace(str(HERE), "/train").replace(sys.base_prefix, "/python")
    facts, *lines = map(json.loads, text.splitlines())
    numbers = {os.getpid(): 100}
    rows = [row for line in lines for row in line]
    for row in rows:
        if row[0] in ("thread", "slice"):
            row[1] = numbers.setdefault(row[1], 100 + len(numbers))
        if row[0] == "thread":
            row[3] = 100
    facts |= {"host": "node1", "pid": 100, "main_thread": 100}
    written = [json.dumps(line, separators=(",", ":")) for line in (facts, *lines)]
    (HERE / "plain.laptime.jsonl").write_text("\n".join(written) + "\n")


if __name__ == "__main__":
    main()
