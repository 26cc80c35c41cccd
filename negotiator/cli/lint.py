"""``negotiator expr lint``: find mistakes in expressions."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from negotiator.classad import Ad, Environment, Table, bind
from negotiator.classad.lint import lint
from negotiator.cli.ads import load
from negotiator.cli.eval import UnparsableExpressionError, read_expression
from negotiator.cli.findings import Linted, print_findings
from negotiator.exit_codes import ExitCode
from negotiator.pool.ad_kind import ad_kind


def lint_command(
    expressions: tuple[str, ...],
    my: Path | None,
    target: Path | None,
    now: float | None,
    form: str,
    *,
    alone: bool,
    value: bool,
) -> None:
    """Find mistakes in each ClassAd EXPRESSION before it is used in a policy."""
    if alone and target:
        raise click.UsageError("--alone and --target exclude each other")
    my_side, target_side = _side(my), _side(target)
    env = Environment(now=time.time() if now is None else now)
    linted = [_linted(text, my_side, target_side, env, alone=alone, value=value) for text in expressions]
    if form == "json":
        click.echo(json.dumps({"expressions": [each.plain() for each in linted]}, indent=2))
    else:
        print_findings(linted)
    if not (my_side.complete and target_side.complete):
        sys.exit(ExitCode.POOL)
    sys.exit(ExitCode.NOT_DONE if any(each.is_bad for each in linted) else ExitCode.DONE)


@attrs.frozen(eq=False)
class _Side:
    """The ads of one side, and the word for one of them in messages."""

    table: Table | None = None
    word: str = "ad"
    complete: bool = True


def _side(path: Path | None) -> _Side:
    if path is None:
        return _Side()
    ads = load(path)
    if not ads.ads:
        sys.exit(ExitCode.POOL)
    return _Side(Table.from_ads(ads.ads), _word(ads.ads), ads.complete)


def _word(ads: Sequence[Ad]) -> str:
    kinds = {ad_kind(ad) for ad in ads}
    word = kinds.pop().value if len(kinds) == 1 else ""
    return word if word in {"slot", "job", "schedd", "submitter"} else "ad"


def _linted(
    text: str, my_side: _Side, target_side: _Side, env: Environment, *, alone: bool, value: bool
) -> Linted:
    try:
        expr = read_expression(text)
    except UnparsableExpressionError as error:
        return Linted(text, problem=error.problem)
    found = lint(
        bind(expr),
        my=my_side.table,
        target=target_side.table,
        alone=alone,
        truth_counts=not value,
        my_word=my_side.word,
        target_word=target_side.word if target_side.word != my_side.word else f"other {target_side.word}",
        text=text,
        env=env,
    )
    return Linted(text, found)
