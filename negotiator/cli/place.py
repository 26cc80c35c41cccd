"""``negotiator place``: the queue that an application would be placed in, and the result of each placement rule."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import attrs
import click
from click.core import ParameterSource

from negotiator.app.placement import (
    GROUPS_UNKNOWN,
    PlacementOutcome,
    place_application,
    rejection,
)
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.problems import print_problems
from negotiator.cli.render import print_table, printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def place(
    user: str | None,
    groups: tuple[str, ...],
    queue: str,
    tags: dict[str, str],
    targets: CommandTargets,
    *,
    job: str | None,
    full: bool,
    forced: bool,
    as_json: bool,
) -> None:
    """Print the queue that an application of a user would be placed in, and the result of each placement rule tried."""
    about_one = bool(groups or tags or forced)
    about_pool = bool(job or full)
    if (about_one or ((user or queue) and not about_pool)) and _from_environment("pool"):
        targets = attrs.evolve(targets, pool=())  # the command line takes precedence
    if targets.pool and about_one:
        raise click.UsageError("--pool places all jobs of a pool: omit the options of a single application")
    if about_pool and not targets.pool:
        raise click.UsageError("--full and --job are for the jobs of a pool: use --pool PATH")
    if not targets.pool and not user:
        raise click.UsageError("missing user: use --user NAME, or --pool PATH for the jobs of a pool")
    view = load_view(targets)
    if view.bundle.chain is None:
        _print_no_chain(as_json=as_json)
    elif targets.pool:
        from negotiator.app.pool_placement import place_pool
        from negotiator.cli.place_pool import show_pool_placement
        from negotiator.cli.selection import Selection

        result = place_pool(view)
        print_problems(result.snapshot.problems, err=True)
        print_failures(result.failures)
        selection = Selection(full=full, user=user or "", queue=queue, job=job or "")
        show_pool_placement(result, selection, as_json=as_json)
        if result.failures:
            sys.exit(ExitCode.PLUGIN)
        sys.exit(ExitCode.DONE if result.all_placed else ExitCode.NOT_DONE)
    else:
        outcome = place_application(view, user or "", groups, queue, tags, forced=forced)
        print_failures(outcome.subject.failures)
        _print_unread_tags(outcome)
        _show(outcome, as_json=as_json)
        sys.exit(_exit_code(outcome))


def _exit_code(outcome: PlacementOutcome) -> ExitCode:
    if outcome.placement.code == GROUPS_UNKNOWN:
        return ExitCode.PLUGIN
    return ExitCode.DONE if outcome.placement.placed else ExitCode.NOT_DONE


def _from_environment(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.ENVIRONMENT


def _print_no_chain(*, as_json: bool) -> None:
    text = "no plugin brings placement rules: jobs have no queue, and none is rejected"
    click.echo(json.dumps({"placed": None, "text": text}, indent=2) if as_json else text)


def _print_unread_tags(outcome: PlacementOutcome) -> None:
    """Warn of tags that make no difference, since their names may be misspelled."""
    read = outcome.chain.tags
    known = f"they read {', '.join(sorted(read))}" if read else "they read no tags"
    for name in outcome.unread_tags:
        click.echo(
            f"warning: no placement rule reads the tag {printable(name)}: {printable(known)}", err=True
        )


def _text(outcome: PlacementOutcome) -> str:
    placement = outcome.placement
    if not placement.placed:
        advice = ": use --group" if placement.code == GROUPS_UNKNOWN else ""
        return f"rejected: {rejection(placement)}{advice}"
    new = f" (new: {', '.join(outcome.created)})" if outcome.created else ""
    return f"placed in {placement.queue}{new}"


def _show(outcome: PlacementOutcome, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_as_json(outcome), indent=2))
        return
    application = outcome.application
    requested = [f"queue {application.queue}"] if application.queue else []
    requested += (f"tag {name}={text}" for name, text in application.tags.items())
    requested += ["forced"] if application.forced else []
    style = "green" if outcome.placement.placed else "red"
    head, rest = _text(outcome).split(" ", 1)
    click.echo(f"{click.style(head, fg=style, bold=True)} {printable(rest)}")
    click.echo(printable("; ".join((str(outcome.subject), *requested))))
    click.echo()
    print_table("Placement rules tried", ("RULE", "QUEUE", "RESULT", "SOURCE"), list(_rows(outcome)))


def _rows(outcome: PlacementOutcome) -> Iterator[tuple[str, ...]]:
    """Return a row for each rule that was tried; the core's own rules, which come last, have no number."""
    values = [rule.configured.value for rule in outcome.chain.rules]
    for number, step in enumerate(outcome.placement.steps, 1):
        is_core = number > len(values)
        rule = step.rule if is_core else f"{number} {step.rule} {values[number - 1]}".rstrip()
        result = step.code.replace("_", " ")
        yield rule, step.queue, f"{result}: {step.text}", str(step.source)


def _as_json(outcome: PlacementOutcome) -> dict[str, Any]:
    """Return an outcome as plain data, with the sentence that is printed without ``--json``."""
    values = outcome.values
    return {"placed": values.pop("placed"), "text": _text(outcome), **values}
