"""Which activities torch.profiler is asked for: the host and every accelerator there is, or those the user names."""

from __future__ import annotations

from collections.abc import Iterable

from laptime.recorders.options import Options
from laptime.recorders.telling import tell

HOST = "cpu"
_OTHER_NAMES = {"rocm": "cuda", "hip": "cuda", "gpu": "cuda", "npu": "privateuse1"}
"""ROCm goes by the name of CUDA in PyTorch; devices of other vendors, such as Ascend's, by privateuse1."""


def chosen_activities(options: Options, supported: Iterable[object]) -> list[object]:
    """Members of `supported`, the host first. What is asked for and not supported is told and left out.

    Raises ValueError where nothing is left.
    """
    by_name = {str(getattr(each, "name", each)).lower(): each for each in supported}
    if options.activities is not None:
        wanted = list(dict.fromkeys(_OTHER_NAMES.get(name, name) for name in options.activities))
        if not options.profile_device:
            wanted = [name for name in wanted if name == HOST]
    else:
        wanted = sorted(by_name, key=lambda name: (name != HOST, name)) if options.profile_device else [HOST]
    missing = [name for name in wanted if name not in by_name]
    if missing:
        tell(f"this PyTorch cannot record {', '.join(missing)}; left out")
    found = [by_name[name] for name in wanted if name in by_name]
    if not found:
        raise ValueError(f"nothing to record: this PyTorch supports {', '.join(sorted(by_name)) or 'no activity'}")
    return found
