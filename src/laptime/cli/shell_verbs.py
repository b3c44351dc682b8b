"""The commands of the prompt, parsed as laptime's own command line is."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Protocol, cast

import typer

from laptime.analyses.selection import Row, Selection, select
from laptime.cli import prof
from laptime.cli.choices import conditions, one_of_these
from laptime.cli.options import say
from laptime.cli.shell import OP_TYPES, known_op_type
from laptime.cli.shell_session import Profile, Session
from laptime.cli.shell_tables import TABLES, show_operator, show_rows, write_rows
from laptime.cli.units import clean
from laptime.errors import LaptimeError

SUBGRAPHS = ("all", "Default", "Gradients")
_ROWS = 20
_MOST_MATCHES = 3
_INTERRUPTED = 130
"""Exit code that Typer makes of Ctrl-C."""


def op(
    context: typer.Context,
    full_name: Annotated[
        str | None, typer.Option("--full-name", help="Inputs and outputs of this operator.", show_default=False)
    ] = None,
    dump_csv: Annotated[
        Path | None,
        typer.Option("--dump-csv", metavar="DIR", help="Write the table into this folder.", show_default=False),
    ] = None,
    op_type: Annotated[
        str | None,
        typer.Option("--op-type", help=f"{', '.join(OP_TYPES)}; default: as started.", show_default=False),
    ] = None,
    contains: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="COL=TEXT", help="Rows whose column contains the text (repeatable).", show_default=False
        ),
    ] = None,
    one_of: Annotated[
        list[str] | None,
        typer.Option("--in", metavar="COL=A,B", help="Rows whose column is one of these.", show_default=False),
    ] = None,
    none_of: Annotated[
        list[str] | None,
        typer.Option("--not-in", metavar="COL=A,B", help="Rows whose column is none of these.", show_default=False),
    ] = None,
    sort: Annotated[
        str | None, typer.Option("--sort", metavar="COL", help="Column; default: the time.", show_default=False)
    ] = None,
    ascending: Annotated[bool, typer.Option("--ascending", help="Least first.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help=f"Rows; default: {_ROWS}, all in CSV.", show_default=False)
    ] = None,
    page: Annotated[int, typer.Option("--page", min=0, help="Page of --limit rows, from 0.")] = 0,
    subgraph: Annotated[str, typer.Option("--subgraph", help="all, Default or Gradients.")] = SUBGRAPHS[0],
) -> None:
    """List the operators, or tell the inputs and outputs of one."""
    session = _session(context)
    if full_name is not None:
        _show_named(session.profile, full_name)
        return
    kind = session.op_type if op_type is None else known_op_type(op_type)
    table = TABLES[kind]
    columns = tuple(table.titles)
    column = table.sort if sort is None else sort.replace("-", "_")
    one_of_these(column, columns, "--sort")
    one_of_these(subgraph, SUBGRAPHS, "--subgraph")
    selection = Selection(
        one_of={**conditions(one_of, "--in", columns), **_of_subgraph(subgraph, columns)},
        none_of=conditions(none_of, "--not-in", columns),
        contains=conditions(contains, "--filter", columns),
        sort=column,
        ascending=ascending or None,
        limit=limit or (None if dump_csv is not None else _ROWS),
        page=page,
    )
    rows = session.profile.rows(kind)
    chosen = select(rows, selection)
    if dump_csv is None:
        show_rows(table, chosen, known=len(rows), title=session.title)
        return
    target = dump_csv / f"{kind}_{session.device or 0}.csv"
    write_rows(table, chosen.rows, target)
    print(f"wrote {clean(str(target))} ({len(chosen.rows):,} rows)")


def _of_subgraph(subgraph: str, columns: tuple[str, ...]) -> dict[str, list[str]]:
    if subgraph == SUBGRAPHS[0]:
        return {}
    if "subgraph" not in columns:
        raise typer.BadParameter("this table tells no subgraph; use --op-type aicore_detail", param_hint="--subgraph")
    return {"subgraph": [subgraph]}


def _show_named(profile: Profile, name: str) -> None:
    """An operator by its full name, or by its short one."""
    found = [op for op in profile.ops if op["full_name"] == name] or [op for op in profile.ops if op["name"] == name]
    if not found:
        near = _near(name, [str(op["full_name"] or op["name"]) for op in profile.ops])
        remedy = f"did you mean {' or '.join(near)}?" if near else "`op` lists the names"
        raise LaptimeError("no operator of that full name", where=name, remedy=remedy)
    for place, one in enumerate(found):
        if place:
            print()
        show_operator(one, profile.timed.get(one["op_id"]))


def _near(name: str, known: list[str]) -> list[str]:
    """Names that hold the text, else those that look like it."""
    holding = [each for each in dict.fromkeys(known) if name.casefold() in each.casefold()]
    return (holding or difflib.get_close_matches(name, known, n=_MOST_MATCHES, cutoff=0.5))[:_MOST_MATCHES]


def step(
    context: typer.Context,
    step_id: Annotated[int, typer.Option("--step-id", min=0, help="The n-th step; 0: the average.")] = 0,
) -> None:
    """Draw the parts of a step, and its communication."""
    from laptime.cli.shell_step_page import show_average, show_step

    session = _session(context)
    result = session.profile.steps
    if step_id == 0 or not result.steps:
        show_average(result, title=session.title)
        return
    if step_id > len(result.steps):
        remedy = f"choose 1 to {len(result.steps)}, or 0 for the average"
        raise LaptimeError(f"no step {step_id}", where=session.title, remedy=remedy)
    show_step(result, step_id - 1, title=session.title)


def parse(
    context: typer.Context,
    job_id: Annotated[
        str | None,
        typer.Option("--job-id", help="Folder of the job; default: the device's newest.", show_default=False),
    ] = None,
    device_id: Annotated[
        int | None,
        typer.Option("--device-id", min=0, help="Device to parse; default: 0, or the only one.", show_default=False),
    ] = None,
    output_path: Annotated[Path, typer.Option("--output-path", help="Where to write the folder `profiler`.")] = (
        prof.OUTPUT_PATH
    ),
    profiling_dir: Annotated[Path, typer.Option("--profiling-dir", help="Where the jobs lie.")] = prof.PROFILING_DIR,
) -> None:
    """Parse a raw Ascend job into a profiler folder, and open that."""
    from laptime.importers.ascend_job_finding import find_job

    session = _session(context)
    number = find_job(profiling_dir, job_id, device_id).device if device_id is None else device_id
    folder = prof.parse_job(
        job_id,
        device_id=device_id,
        output_path=output_path,
        profiling_dir=profiling_dir,
        workspace=session.workspace,
    )
    session.open(str(folder), number)
    print(f"now open: {session.title}")


def show_help(
    verb: Annotated[str | None, typer.Argument(help="Command to tell more of.", show_default=False)] = None,
) -> None:
    """List the commands."""
    if verb is not None:
        _parser().main([verb, "--help"], prog_name="", standalone_mode=False)
        return
    for use, summary in _USES:
        print(f"{use:<37}{summary}")
    print("`op --help` tells all options of a command; they may be written with - or _.")


def leave(context: typer.Context) -> None:
    """Leave the prompt."""
    _session(context).done = True


VERBS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("op", op),
    ("step", step),
    ("prof", parse),
    ("help", show_help),
    ("exit", leave),
    ("quit", leave),
)
_USES = (
    ("op", "all operators, longest first"),
    ("op --full_name NAME", "inputs and outputs of an operator"),
    ("op --dump_csv DIR", "write the table as CSV"),
    ("op --filter op_type=mul --sort COL", "choose and order rows"),
    ("op --op_type aicore_type", "another table: aicore_detail, aicore_type, aicpu"),
    ("step", "the average step, drawn"),
    ("step --step_id 1", "the first step"),
    ("prof --job_id JOBXXX", "parse a raw Ascend job and open it"),
    ("exit, quit, Ctrl-D", "leave"),
)


class _Parser(Protocol):
    """Click's group of commands; Typer ships click under a name of its own, which changes."""

    commands: dict[str, _Verb]

    def main(self, args: list[str], **how: object) -> object:
        """Runs a command line."""
        ...


class _Verb(Protocol):
    params: list[_Parameter]


class _Parameter(Protocol):
    opts: list[str]


@cache
def _parser() -> _Parser:
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={
            "token_normalize_func": lambda token: token.replace("_", "-"),
            "help_option_names": ["-h", "--help"],
        },
    )
    for name, verb in VERBS:
        app.command(name)(verb)
    return cast(_Parser, typer.main.get_command(app))


def run_line(line: str, session: Session) -> bool:
    """Runs a line of the prompt and tells whether it went well; errors are said in one line each."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        say(f'{error}: {line.strip()}: quote names with blanks as "A B"')
        return False
    try:
        code = _parser().main(words, prog_name="", obj=session, standalone_mode=False) if words else 0
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        return not code
    except LaptimeError as error:
        say(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        say(f"{error.strerror or 'cannot be done'}: {error.filename or line.strip()}: check the path")
    except typer.Abort:  # what older releases of Typer make of Ctrl-C
        raise KeyboardInterrupt from None
    except Exception as error:
        message = getattr(error, "format_message", None)  # click's errors
        if message is None:
            raise
        say(f"{' '.join(message().split()).rstrip('.')}: {words[0]}: {_remedy(words[0])}")
    return False


def _remedy(verb: str) -> str:
    return f"see `{verb} --help`" if verb in dict(VERBS) else "see `help`"


def _session(context: typer.Context) -> Session:
    session = context.obj
    assert isinstance(session, Session)
    return session


def full_names(profile: Profile) -> list[str]:
    """Names that `op --full_name` takes."""
    return list(dict.fromkeys(str(one["full_name"] or one["name"]) for one in profile.ops))


def op_types(rows: list[Row]) -> list[str]:
    """Operator types of a table."""
    return sorted({str(row["op_type"]) for row in rows if row["op_type"] is not None})


def options_of(verb: str) -> list[str]:
    """Long options of a command of the prompt."""
    command = _parser().commands.get(verb)
    parameters = command.params if command else []
    return [option for parameter in parameters for option in parameter.opts if option.startswith("--")]
