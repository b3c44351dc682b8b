"""Programs that tests run beside laptime, each in a virtual environment of its own.

They lie in ~/.cache/laptime-envs (elsewhere: LAPTIME_ENVS), named by their Python and what `{name}.txt` pins, which is
every package. `python -m tests.environments` makes those of the frameworks, which takes minutes and 6.4 GB. laptime is
installed in none of them: what runs there gets it by PYTHONPATH.
"""

from __future__ import annotations

from tests.environments.making import Unavailable, absence, ensure, make
from tests.environments.places import FRAMEWORKS, MINDINSIGHT, Environment, named

__all__ = ["FRAMEWORKS", "MINDINSIGHT", "Environment", "Unavailable", "absence", "ensure", "make", "named"]
