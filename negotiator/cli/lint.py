"""``negotiator lint``: what an author of expressions should look at."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from negotiator.classad import ClassAd, Environment, Table, bind
from negotiator.classad.lint import lint
from negotiator.cli.ads import load
from negotiator.cli.expressions import Unparsable, read_expression
from negotiator.cli.findings import Linted, print_findings
from negotiator.cli.render import POINT_IN_TIME
from negotiator.pool.ad_kind import ad_kind

FOUND, BAD_ADS = 1, 4

_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command("lint", short_help="Find what is wrong, or looks it, in expressions.")
@click.argument("expressions", nargs=-1, required=True, metavar="EXPRESSION...")
@click.option("--my", type=_ADS, help="File with the ads that the expression belongs to.")
@click.option("--target", type=_ADS, help="File with the ads that they are matched with.")
@click.option("--alone", is_flag=True, help="There is no other ad: the expression is a gate.")
@click.option("--value", is_flag=True, help="The value counts, not whether it is true: a Rank, a text.")
@click.option("--now", type=POINT_IN_TIME, help="Take this as the time, in seconds since the epoch.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
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
    """Find what is wrong, or looks it, in each ClassAd EXPRESSION, before it goes into a policy.

    What is found by the text alone holds for any ads: always true, always undefined, a string compared with a number. With
    the ads of a pool, attributes that none of them has are found, those of the other side, and what is true, undefined or
    an error for all of them. MY and TARGET are the two ads, as in a policy. - is standard input.

    \b
    Exit codes:
      0  there is nothing to warn of
      1  there are warnings, or an expression does not parse
      2  the command line is wrong
      4  an ad could not be read; what was found with the others was printed

    \b
    Examples:
      negotiator lint 'MY.Memory > "1024"' 'x == undefined'
      negotiator lint 'TARGET.RequestMemory > 0' --my jobs.ads --target machines.ads
      negotiator lint --alone 'MY.Mips < 1000' --my machines.ads
    """
    if alone and target:
        raise click.UsageError("--alone says that there is no other ad: leave out --target")
    mine, others = _side(my), _side(target)
    env = Environment(now=time.time() if now is None else now)
    linted = [_linted(text, mine, others, env, alone=alone, value=value) for text in expressions]
    if form == "json":
        click.echo(json.dumps({"expressions": [each.plain() for each in linted]}, indent=2))
    else:
        print_findings(linted)
    if not (mine.complete and others.complete):
        sys.exit(BAD_ADS)
    sys.exit(FOUND if any(each.is_bad for each in linted) else 0)


@attrs.frozen(eq=False)
class _Side:
    """The ads of one side, and what one of them is called."""

    table: Table | None = None
    word: str = "ad"
    complete: bool = True


def _side(path: Path | None) -> _Side:
    if path is None:
        return _Side()
    ads = load(path)
    if not ads.ads:
        sys.exit(BAD_ADS)
    return _Side(Table.from_ads(ads.ads), _word(ads.ads), ads.complete)


def _word(ads: Sequence[ClassAd]) -> str:
    kinds = {ad_kind(ad) for ad in ads}
    word = kinds.pop().value if len(kinds) == 1 else ""
    return word if word in {"slot", "job", "schedd", "submitter"} else "ad"


def _linted(text: str, mine: _Side, others: _Side, env: Environment, *, alone: bool, value: bool) -> Linted:
    try:
        expr = read_expression(text)
    except Unparsable as wrong:
        return Linted(text, problem=wrong.problem)
    found = lint(
        bind(expr),
        my=mine.table,
        target=others.table,
        alone=alone,
        truth_counts=not value,
        my_word=mine.word,
        target_word=others.word if others.word != mine.word else f"other {others.word}",
        text=text,
        env=env,
    )
    return Linted(text, found)
