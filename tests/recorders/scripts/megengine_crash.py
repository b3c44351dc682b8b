"""Ends in the middle of the fourth step: by an exception, or by SIGTERM."""

import os
import signal
import sys

import megengine as mge

import laptime

with laptime.Profiler(sys.argv[1], schedule=laptime.schedule(active=2)) as profiler:
    for number in range(6):
        with laptime.scope("work"):
            total = (mge.tensor([1.0, 2.0]) * number).sum()
        if number == 3:
            if sys.argv[2] == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
            raise RuntimeError("of the script's own")
        total.item()
        profiler.step()
