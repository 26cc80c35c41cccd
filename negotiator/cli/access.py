"""``negotiator access``: who may do what where, and which access control list says so."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from negotiator.cli import options
from negotiator.cli.bundles import the_bundle
from negotiator.cli.render import print_table, printable
from negotiator.cli.subjects import Subject, person
from negotiator.hooks.access import Access, AccessKind, AccessQuestion
from negotiator.hooks.answers import Attributed
from negotiator.placement import AccessCache
from negotiator.placement.access import is_granted
from negotiator.queues import QueueTree

NO_GROUPS = 3

_SCHEDULER = "the scheduler"
_HEADERS = ("QUEUE", "ACT", "MAY", "WHY", "RULE")


@click.command(short_help="Say who may do what where, and which rule says so.")
@click.argument("paths", nargs=-1, type=options.QUEUE_PATH, metavar="[PATH]...")
@options.user
@options.group
@options.bundle
@options.plugins_dir
@options.disable
@options.now
@options.as_json
def access(
    paths: tuple[str, ...],
    user: str | None,
    groups: tuple[str, ...],
    folder: Path | None,
    plugins_dirs: tuple[Path, ...],
    disable: tuple[str, ...],
    now: float | None,
    *,
    as_json: bool,
) -> None:
    """Say whether a user may submit to queues and administer them, and configure the scheduler; and which rule says so.

    PATH is a queue, root.dev.web; without one all configured queues are told of. A queue that does not exist may be asked
    about too: a placement rule may make it.

    \b
    Exit codes:
      0  it was told, whether or not anything is allowed
      1  the policy bundle has errors
      2  the command line is wrong
      3  the groups of the user could not be had, since a plugin failed: say them with --group

    \b
    Examples:
      negotiator access --user sue --bundle policies/site
      negotiator access --user sue --group dev root.dev.web
    """
    if not user:
        raise click.UsageError("say whom it is asked about: --user NAME")
    bundle = the_bundle(folder, plugins_dirs, disable, undone="nothing was asked")
    moment = time.time() if now is None else now
    who = person(bundle, user, groups, moment)
    if not who.known:
        sys.exit(NO_GROUPS)
    queues = QueueTree.of(bundle.partition.root, moment)
    asked = dict.fromkeys(paths or (queue.path for queue in queues))
    book = AccessCache(bundle.hooks, bundle.settings, queues)
    questions = [*_of_queues(who, asked), AccessQuestion(who.user, who.groups, AccessKind.CONFIGURE)]
    book.ask(questions)
    answers = [(question, book.answer(question)) for question in questions]
    if as_json:
        click.echo(json.dumps(_as_json(who, answers, queues), indent=2))
        return
    click.echo(printable(f"For {who}"))
    click.echo()
    print_table(
        "What may be done, and which rule says so",
        _HEADERS,
        [_row(question, answer, queues) for question, answer in answers],
    )


def _of_queues(who: Subject, paths: dict[str, None]) -> Sequence[AccessQuestion]:
    acts = (AccessKind.SUBMIT, AccessKind.ADMINISTER)
    return [AccessQuestion(who.user, who.groups, act, path) for path in paths for act in acts]


def _row(question: AccessQuestion, answer: Attributed[Access], queues: QueueTree) -> tuple[str, ...]:
    missing = "" if not question.queue or queues.get(question.queue) else " (does not exist)"
    said = answer.record
    where = f" ({said.source})" if said.source else ""
    return (
        f"{question.queue or _SCHEDULER}{missing}",
        str(question.act),
        "yes" if is_granted(answer) else "no",
        said.text,
        f"{answer.plugin}: {said.rule}{where}",
    )


def _as_json(
    who: Subject, answers: Sequence[tuple[AccessQuestion, Attributed[Access]]], queues: QueueTree
) -> dict[str, Any]:
    told: dict[str, dict[str, Any]] = {}
    for question, answer in answers:
        first = {"queue": question.queue, "exists": queues.get(question.queue) is not None}
        told.setdefault(question.queue, first)[str(question.act)] = _plain(answer)
    scheduler = told.pop("")
    return {
        "user": who.user,
        "groups": list(who.groups),
        "queues": list(told.values()),
        "scheduler": {str(AccessKind.CONFIGURE): scheduler[AccessKind.CONFIGURE]},
    }


def _plain(answer: Attributed[Access]) -> dict[str, Any]:
    """Make plain data of an answer; ``source`` is ``file:line:column``, null where there is none."""
    said = answer.record
    return {
        "granted": is_granted(answer),
        "decision": str(said.decision),
        "plugin": answer.plugin,
        "version": answer.version,
        "rule": said.rule,
        "text": said.text,
        "source": str(said.source) if said.source else None,
    }
