"""`python -m laptime.recorders …`, also `laptime record …`: records a program that knows nothing of it.

With the standard library alone, so that it works in any training image.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

from laptime.recorders import programs
from laptime.recorders.backends import BACKENDS
from laptime.recorders.command_options import parse, profiler_of
from laptime.recorders.decorator import StepCalls
from laptime.recorders.importing import ImportListener
from laptime.recorders.steps_from import StepsFrom, changed_code, looking_for
from laptime.recorders.telling import tell

_FRAMEWORKS = {package: name for name, (package, _) in BACKENDS.items() if package is not None}


def main(arguments: Sequence[str] | None = None) -> None:
    """Records the program named by a command line. Ends as the program ends."""
    Recording(parse(sys.argv[1:] if arguments is None else arguments, prog="python -m laptime.recorders")).run()


class Recording:
    """A program under a Profiler.

    It starts with the first step where steps are known; else when the framework has been imported, which decides how
    to record. Until then, and where none is, plain Python is recorded.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._profiler = profiler_of(options)
        self._framework: str | None = None
        self._steps = StepsFrom(options.steps_from, StepCalls(self._profiler)) if options.steps_from else None
        self._program, *self._arguments = options.program
        self._beside = os.getcwd() if options.is_module else os.path.dirname(os.path.realpath(self._program))
        self._listener = ImportListener(self._wants, self._imported)

    def run(self) -> None:
        """Runs the program to its end."""
        if not self._options.is_module and not os.path.exists(self._program):
            tell(f"no such file: {self._program}")
            sys.exit(2)
        if self._options.is_module and not programs.has_package(self._program):
            programs.run_module(self._program, self._arguments)  # Python says that there is none, and exits
        self._listener.install()
        if self._steps is None and self._options.framework in (None, "python"):
            self._profiler.start()
        cut = True
        try:
            self._run_program()
            cut = False
        except SystemExit:
            cut = False
            raise
        except BaseException:
            programs.hide_own_frames()
            raise
        finally:
            self._profiler.finish(cut=cut)
            self._tell()

    def _run_program(self) -> None:
        change = None
        if self._steps is not None and self._steps.may_be_of(self._program):
            change = looking_for(self._steps)
        if not self._options.is_module:
            return programs.run_script(self._program, self._arguments, change)
        if change is not None:
            changed = change

            def code(whole: CodeType | None, path: str) -> CodeType | None:
                return changed_code(changed, whole, path)

            self._listener.code.update({self._program: code, f"{self._program}.__main__": code})
        programs.run_module(self._program, self._arguments)

    def _wants(self, module: str) -> bool:
        if self._steps is not None:
            return self._steps.wants(module, self._beside)
        return module in _FRAMEWORKS

    def _imported(self, module: ModuleType) -> None:
        if self._steps is not None:
            return self._steps.look(vars(module))
        framework = _FRAMEWORKS[module.__name__]
        if self._framework is None and self._options.framework in (None, framework):
            self._framework = framework
            self._profiler.discard()  # what came before was no training
            self._profiler = profiler_of(self._options, framework)
            self._profiler.start()

    def _tell(self) -> None:
        """Where the recording lies, and what to do next."""
        profiler, where = self._profiler, self._profiler.path
        if not profiler.has_started:
            text = f"nothing was recorded: {self._why_nothing()}"
        elif profiler.log_path is None:
            text = f"nothing was recorded in {where}"
        elif self._steps is None:
            text = f"recorded in {where}, no steps (--steps-from NAME marks them); next: laptime report {where}"
        else:
            count = profiler.recorded_steps
            text = f"recorded {count} {'step' if count == 1 else 'steps'} in {where}; next: laptime report {where}"
        tell(text)

    def _why_nothing(self) -> str:
        if self._steps is None:
            return f"{self._options.framework} was not imported"
        if self._steps.is_found:
            return f"{self._steps.name} was never called"
        return f"{self._steps.name} was not found; name a function at the top of a module, or a method of a class"
