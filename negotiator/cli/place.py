"""``negotiator place``: which queue an application would go to, and what each placement rule says of it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import click
from click.core import ParameterSource

from negotiator.audit.queueing import placement_fields
from negotiator.bundle.model import Bundle
from negotiator.cli import options
from negotiator.cli.bundles import the_bundle
from negotiator.cli.place_pool import place_pool
from negotiator.cli.render import print_table, printable
from negotiator.cli.subjects import Subject, person, state_manager
from negotiator.cycle.result import ApplicationPlacement
from negotiator.hooks.placement import Application
from negotiator.placement import AccessCache, Chain, Placement
from negotiator.placement.trace import NO_RULE_MATCHED
from negotiator.queues import MutableQueueTree

REJECTED = 3

_UNKNOWN = "groups_unknown"
_TEXTS = {
    NO_RULE_MATCHED: "no placement rule has a queue for it",
    _UNKNOWN: "a plugin failed, so the groups of the user could not be had: say them with --group",
}


@attrs.frozen
class _Outcome:
    """What would become of one application; ``created`` are the queues that would be made, from the top."""

    application: Application
    placement: Placement
    created: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """A sentence for people."""
        placement = self.placement
        if placement.placed:
            new = f" (new: {', '.join(self.created)})" if self.created else ""
            return f"placed in {placement.queue}{new}"
        return f"rejected: {_TEXTS.get(placement.code) or placement.steps[-1].text}"


def _tags(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    tags = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{value!r}: write NAME=VALUE")
        tags[name.lower()] = text
    return tags


@click.command(short_help="Say which queue an application would go to, and why.")
@options.bundle
@options.user
@options.group
@click.option("--queue", default="", metavar="NAME", help="The queue that the application asks for.")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    callback=_tags,
    metavar="NAME=VALUE",
    help="An attribute of its jobs; may be given again.",
)
@click.option("--forced", is_flag=True, help="It is a forced application.")
@options.pool("Ask about the jobs of this folder or file of ads instead; may be given again.")
@options.state
@options.plugins_dir
@options.disable
@options.now
@options.as_json
def place(
    folder: Path | None,
    user: str | None,
    groups: tuple[str, ...],
    queue: str,
    tags: dict[str, str],
    pool: tuple[Path, ...],
    state: Path | None,
    plugins_dirs: tuple[Path, ...],
    disable: tuple[str, ...],
    now: float | None,
    *,
    forced: bool,
    as_json: bool,
) -> None:
    """Say which queue an application of a user would go to, and what came of each placement rule that was tried.

    With --pool it is asked about the jobs of a pool, as a negotiation cycle would: jobs that are alike in all that rules
    read are told of together. Nothing is placed: no queue is made, nothing is written.

    \b
    Exit codes:
      0  placed
      1  the policy bundle has errors
      2  the command line is wrong
      3  rejected; with --pool, an application was
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator place --bundle policies/site --user sue --tag namespace=prod
      negotiator place --bundle policies/site --user sue --group dev --queue root.dev.web
      negotiator place --bundle policies/site --pool examples/first-pool
    """
    about_one = bool(user or groups or queue or tags or forced)
    if about_one and _from_environment("pool"):
        pool = ()
    if pool and about_one:
        raise click.UsageError("ask about the jobs of a pool, or about one user: --pool says all of its jobs")
    if not pool and not user:
        raise click.UsageError("say whose application it is: --user NAME; or whose pool: --pool PATH")
    bundle = the_bundle(folder, plugins_dirs, disable, undone="nothing was asked")
    moment = time.time() if now is None else now
    kept = state_manager(state, bundle, moment)
    if bundle.chain is None:
        _no_queues(as_json=as_json)
    elif pool:
        sys.exit(0 if place_pool(pool, bundle, kept, moment, as_json=as_json) else REJECTED)
    else:
        who = person(bundle, user or "", groups, moment)
        _tell_unread(tags, bundle.chain)
        read = {name: text for name, text in tags.items() if name in bundle.chain.tags}
        application = Application(who.user, who.groups, queue, read, forced)
        queues = kept.queues.mutable()
        queues.clean(kept.registry.busy(), moment)  # as a cycle does before it places
        outcome = _placed(application, who, bundle, bundle.chain, queues, moment)
        _show(outcome, who, bundle.chain, as_json=as_json)
        sys.exit(0 if outcome.placement.placed else REJECTED)


def _from_environment(option: str) -> bool:
    """Whether an option was not given, but stands in the environment: what is said on the command line goes before."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.ENVIRONMENT


def _no_queues(*, as_json: bool) -> None:
    text = "no plugin brings placement rules: jobs have no queue, and none is rejected for it"
    click.echo(json.dumps({"placed": None, "text": text}, indent=2) if as_json else text)


def _tell_unread(tags: dict[str, str], chain: Chain) -> None:
    """Say which tags make no difference, since it may be a slip of the finger."""
    for name in sorted(tags.keys() - chain.tags):
        there = f"they read {', '.join(sorted(chain.tags))}" if chain.tags else "they read none"
        click.echo(
            f"warning: no placement rule reads the tag {printable(name)}: {printable(there)}", err=True
        )


def _placed(
    application: Application, who: Subject, bundle: Bundle, chain: Chain, queues: MutableQueueTree, now: float
) -> _Outcome:
    """Place an application among copies of the queues: whether a new queue can be made is part of the answer."""
    if not who.known:
        return _Outcome(application, Placement("", _UNKNOWN, ()))
    book = AccessCache(bundle.hooks, bundle.settings, queues.view)
    (placement,), changes = chain.place([application], queues, book, now)
    return _Outcome(application, placement, tuple(change.path for change in changes))


def _show(outcome: _Outcome, who: Subject, chain: Chain, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_as_json(outcome), indent=2))
        return
    application = outcome.application
    asked = [f"queue {application.queue}"] if application.queue else []
    asked += (f"tag {name}={text}" for name, text in application.tags.items())
    asked += ["forced"] if application.forced else []
    style = "green" if outcome.placement.placed else "red"
    head, rest = outcome.text.split(" ", 1)
    click.echo(f"{click.style(head, fg=style, bold=True)} {printable(rest)}")
    click.echo(printable("; ".join((str(who), *asked))))
    click.echo()
    print_table(
        "Placement rules that were tried",
        ("RULE", "QUEUE", "WHAT CAME OF IT", "WRITTEN IN"),
        list(_rows(outcome, chain)),
    )


def _rows(outcome: _Outcome, chain: Chain) -> Iterator[tuple[str, ...]]:
    """A row for each rule that was tried; the core's own rules, which come last, have no number."""
    values = [rule.configured.value for rule in chain.rules]
    for number, step in enumerate(outcome.placement.steps, 1):
        own = number > len(values)
        rule = step.rule if own else f"{number} {step.rule} {values[number - 1]}".rstrip()
        what = step.code.replace("_", " ")
        yield rule, step.queue, f"{what}: {step.text}", str(step.source)


def _as_json(outcome: _Outcome) -> dict[str, Any]:
    """Make plain data of an outcome: what the audit log has of an application, and the queues that would be made."""
    fields = placement_fields(ApplicationPlacement(outcome.application, 1, "", outcome.placement))
    return {
        "placed": outcome.placement.placed,
        "text": outcome.text,
        **{name: field for name, field in fields.items() if name not in {"jobs", "first_job"}},
        "created": list(outcome.created),
    }
