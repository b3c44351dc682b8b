"""The options of `laptime record` and `python -m laptime.recorders`, and the Profiler that they ask for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from laptime.recorders.backends import BACKENDS, framework_name
from laptime.recorders.options import FORMATS
from laptime.recorders.profiler import Profiler
from laptime.recorders.schedules import schedule
from laptime.recorders.steps_from import steps_name

_EXAMPLES = """examples:
  %(prog)s train.py --epochs 1
  %(prog)s -o runs/a --steps-from train_step --wait 5 --active 3 train.py
  %(prog)s --steps-from trainer:Trainer.step -m my.training --lr 0.1

laptime report DIR explains what was recorded.
"""
_SCHEDULE = {
    "skip_first": "steps before all else that are left out",
    "wait": "steps at the beginning of each cycle that are left out",
    "warmup": "steps that warm up the framework's profiler",
    "active": "steps to record in each cycle; default: all steps",
    "repeat": "cycles; default: as many as there are",
}


def parse(arguments: Sequence[str], *, prog: str) -> argparse.Namespace:
    """The options of a command line. Exits with 2 and one line where they cannot be."""
    parser = _parser(prog)
    options = parser.parse_args(arguments)
    if options.program[:1] == ["--"]:
        del options.program[0]
    if not options.program:
        parser.error("name a script, or a module after -m")
    try:
        options.steps_from = None if options.steps_from is None else steps_name(options.steps_from)
        options.framework = None if options.framework is None else framework_name(options.framework)
        profiler_of(options)
    except ValueError as error:
        parser.error(str(error))
    if options.steps_from is None and any(getattr(options, name) is not None for name in _SCHEDULE):
        parser.error("a schedule counts steps: say what they are with --steps-from NAME")
    return options


def profiler_of(options: argparse.Namespace, framework: str | None = None) -> Profiler:
    """A Profiler as asked for. Raises ValueError for arguments that cannot be."""
    chosen: dict[str, int] = {name: getattr(options, name) for name in _SCHEDULE if getattr(options, name) is not None}
    if chosen and "active" not in chosen:
        raise ValueError("a schedule needs --active: how many steps of each cycle to record")
    return Profiler(
        options.output,
        framework=framework or options.framework,
        schedule=schedule(**chosen) if chosen else None,
        formats=options.formats.split(",") if options.formats else None,
        sample_rate=options.sample_rate,
        profile_device=not options.no_device,
        with_scopes=options.with_scopes,
        with_backtrace=options.with_backtrace,
        profile_memory=options.profile_memory,
    )


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s [options] SCRIPT [args...]\n       %(prog)s [options] -m MODULE [args...]",
        description="Record a training program as it is: no line of it changes.",
        epilog=_EXAMPLES,
        formatter_class=_Format,
        allow_abbrev=False,
    )
    parser.add_argument(
        *("-o", "--output"), metavar="DIR", default="profile", help="folder of the recording; default: %(default)s"
    )
    parser.add_argument("-m", action="store_true", dest="is_module", help="the program is a module, as in python -m")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    _add(parser, "--framework", metavar="NAME", help=f"{', '.join(BACKENDS)}; default: what is imported")
    _add(
        parser,
        "--steps-from",
        metavar="NAME",
        help="each call of this function is a step: train_step, pkg.mod:train_step, Class.method",
    )
    for name, what in _SCHEDULE.items():
        _add(parser, f"--{name.replace('_', '-')}", metavar="N", type=int, help=what)
    _add(parser, "--with-scopes", action="store_true", help="record ranges of functions and tensor methods, too")
    _add(parser, "--with-backtrace", action="store_true", help="record Python call stacks")
    _add(parser, "--sample-rate", metavar="N", type=int, default=0, help="look at device memory every N operators")
    _add(parser, "--formats", metavar="A,B", help=f"of {', '.join(FORMATS)}")
    _add(parser, "--profile-memory", action="store_true", help="record the lives of memory blocks")
    _add(parser, "--no-device", action="store_true", help="record the host alone")
    return parser


class _Format(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=79)


def _add(parser: argparse.ArgumentParser, name: str, **how: object) -> None:
    """An option, also with _ for -."""
    parser.add_argument(name, **how)  # type: ignore[arg-type]  # as argparse takes them
    other = f"--{name[2:].replace('-', '_')}"
    if other != name:
        parser.add_argument(other, **{**how, "default": argparse.SUPPRESS, "help": argparse.SUPPRESS})  # type: ignore[arg-type]  # as above
