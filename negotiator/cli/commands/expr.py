"""``negotiator expr``: evaluate ClassAd expressions, find mistakes in them, or try them one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.hooks.command_options import POINT_IN_TIME

_ADS = click.Path(path_type=Path, allow_dash=True)
_now = click.option(
    "--now", type=POINT_IN_TIME, help="Use this as the current time, in seconds since the epoch."
)


@click.group(short_help="Evaluate ClassAd expressions, find mistakes in them, try them.")
def expr() -> None:
    """Evaluate ClassAd expressions, find mistakes in them, or try them one after the other.

    \b
    Examples:
      negotiator expr eval '1 + 2 * 3'
      negotiator expr lint 'MY.Memory > "1024"'
      negotiator expr repl --my machines.ads --target jobs.ads
    """


@expr.command("eval", short_help="Evaluate an expression and print its value.")
@click.argument("expression")
@click.option("--my", type=_ADS, help="File with the ads that are MY, one after the other.")
@click.option("--target", type=_ADS, help="File whose first ad is TARGET, the other ad of a match.")
@_now
@click.option("--trace", "traced", is_flag=True, help="Print each part of the expression with its value.")
def eval_command(**given: Any) -> None:
    """Evaluate a ClassAd EXPRESSION and print its value.

    It may refer to the attributes of an ad (MY) and of the ad it would be matched with (TARGET). Where the file of --my has
    several ads, a line is printed for each, with its name. - is standard input.

    With --trace each part of the expression is printed with its value, and so are the expressions of the attributes that
    it refers to; MY and TARGET show which of the two ads has an attribute. For several expressions on the same ads:
    negotiator expr repl.

    \b
    Exit codes:
      0  a value was printed, undefined and error among them
      1  invalid expression
      2  invalid command line
      4  an ad could not be read; values of the target_ads were printed

    \b
    Examples:
      negotiator expr eval '1 + 2 * 3'
      negotiator expr eval 'MY.Memory >= TARGET.RequestMemory' --my machines.ads --target jobs.ads
      negotiator expr eval MY.Requirements --my jobs.ads --target machines.ads --trace
    """
    from negotiator.cli import eval as implementation

    implementation.evaluate_command(**given)


@expr.command("lint", short_help="Find mistakes in expressions.")
@click.argument("expressions", nargs=-1, required=True, metavar="EXPRESSION...")
@click.option("--my", type=_ADS, help="File with the ads that are MY.")
@click.option("--target", type=_ADS, help="File with the ads that are TARGET.")
@click.option("--alone", is_flag=True, help="The expression is a gate, evaluated without TARGET.")
@click.option(
    "--value", is_flag=True, help="The expression is used for its value, as a Rank is, not for being true."
)
@_now
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output for people or for programs.",
)
def lint_command(**given: Any) -> None:
    """Find mistakes in each ClassAd EXPRESSION before it is used in a policy.

    Without ads only findings that hold for any ads are reported: always true, always undefined, a string compared with a
    number. With the ads of a pool also: attributes that no ad has or only the other side has, and parts that are true,
    undefined or an error for all ads. MY and TARGET are the two ads, as in a policy. - is standard input.

    \b
    Exit codes:
      0  no warnings
      1  there are warnings, or an expression does not parse
      2  invalid command line
      4  an ad could not be read; the findings with the others were printed

    \b
    Examples:
      negotiator expr lint 'MY.Memory > "1024"' 'x == undefined'
      negotiator expr lint 'TARGET.RequestMemory > 0' --my jobs.ads --target machines.ads
      negotiator expr lint --alone 'MY.Mips < 1000' --my machines.ads
    """
    from negotiator.cli import lint as implementation

    implementation.lint_command(**given)


def _file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and str(value) == "-":
        raise click.BadParameter("must be a file: standard input has the expressions", context, parameter)
    return value


@expr.command("repl", short_help="Read expressions, one a line, and print their values.")
@click.option("--my", type=_ADS, callback=_file, help="File whose first ad is MY.")
@click.option("--target", type=_ADS, callback=_file, help="File whose first ad is TARGET.")
@_now
def repl_command(**given: Any) -> None:
    """Read ClassAd expressions, one a line, and print their values.

    They may refer to the attributes of two ads, MY and TARGET. Lines that begin with a colon are commands: :trace EXPR
    prints each part of an expression with its value, :set Name = EXPR gives MY an attribute; :help lists them all. On a
    terminal Tab completes the names of attributes and functions, Ctrl-C cancels a line and Ctrl-D ends the session. If
    the lines come from a pipe, nothing but values and the output of commands is printed.

    \b
    Exit codes:
      0  the end was reached; on a terminal always
      1  a line from a pipe did not parse, or its command failed; the others were read
      2  invalid command line
      4  an ad of the command line could not be read

    \b
    Examples:
      negotiator expr repl --my machines.ads --target jobs.ads
      echo 'MY.Memory >= TARGET.RequestMemory' | negotiator expr repl --my machines.ads --target jobs.ads
    """
    from negotiator.cli import repl as implementation

    implementation.repl(**given)
