"""A session of the REPL: two ads, expressions on them, and the commands that begin with a colon."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

import attrs
import click

from negotiator.classad import Ad, Environment, Expr, Side, evaluate, unparse, unparse_value
from negotiator.classad.scalar import trace
from negotiator.classad.syntax import SIDES, Attr, fold
from negotiator.cli.ads import label, load, named
from negotiator.cli.eval import UnparsableExpressionError, read_expression
from negotiator.cli.render import printable
from negotiator.errors import CommandError
from negotiator.pool.secrets import redact

_COMMENTS = ("#", "//")
_COMMAND = re.compile(r":\s*(\S*)\s*")


class RefusedLineError(CommandError):
    """A line names an unknown command, or its arguments are invalid."""


class EndOfSessionError(Exception):
    """The user ended the session; caught by its loop."""


@attrs.frozen
class TypedLine:
    """A line that was entered. Its arguments begin at ``start``; ``number`` is its line in a file, or 0."""

    text: str
    start: int = 0
    number: int = 0

    @property
    def rest(self) -> str:
        """The text after the command."""
        return self.text[self.start :]

    def expression(self, start: int | None = None, end: int | None = None) -> Expr:
        """Parse a part of the line.

        :raises UnparsableExpressionError: it does not parse.
        """
        name = "<stdin>" if self.number else "expression"
        begin = self.start if start is None else start
        return read_expression(self.text[:end], begin, name=name, line=self.number)


@attrs.frozen
class SessionAd:
    """An ad of the session, and a text for people that identifies it."""

    ad: Ad
    origin: str


@attrs.define
class Session:
    """Two ads, of which TARGET may be missing, and the current time of expressions (None for that of the clock).

    ``interactive`` sessions print hints too.
    """

    now: float | None = None
    interactive: bool = False
    ads: dict[Side, SessionAd] = attrs.field(factory=lambda: {Side.MY: SessionAd(Ad(), "an empty ad")})

    @property
    def my(self) -> Ad:
        """The ad that expressions belong to."""
        return self.ads[Side.MY].ad

    @property
    def target(self) -> Ad | None:
        """The other ad, if there is one."""
        other = self.ads.get(Side.TARGET)
        return other.ad if other else None

    @property
    def environment(self) -> Environment:
        """The environment of an evaluation now."""
        return Environment(now=time.time() if self.now is None else self.now)

    def read(self, text: str, number: int = 0) -> bool:
        """Print the value of an expression, or run a command; return False after printing an error to standard error.

        :param number: the number of the line in a file; 0 if it was entered.
        :raises EndOfSessionError: the command ends the session.
        """
        try:
            self._run(text.strip(), number)
        except UnparsableExpressionError as error:
            error.show()
        except RefusedLineError as refusal:
            where = f"<stdin>:{number}: " if number else ""
            click.echo(f"{where}error: {printable(str(refusal))}", err=True)
        else:
            return True
        return False

    def _run(self, text: str, number: int) -> None:
        if not text or text.startswith(_COMMENTS):
            return
        word = _COMMAND.match(text)
        if word is None:
            value = evaluate(TypedLine(text, 0, number).expression(), self.my, self.target, self.environment)
            click.echo(printable(unparse_value(value)))
            return
        command = COMMANDS[_command_name(word[1])]
        if command.needs_arguments and word.end() == len(text):
            raise RefusedLineError(f"usage: {command.usage}")
        command.run(self, TypedLine(text, word.end(), number))

    def use(self, side: Side, path: Path, name: str | None = None) -> None:
        """Make an ad of a file MY or TARGET: the first with this name, or the first of all.

        :raises RefusedLineError: the ad is missing.
        """
        if str(path) == "-":
            raise RefusedLineError("must be a file: standard input has the expressions")
        read = load(path).ads
        if not read:
            raise RefusedLineError(f"{side} is unchanged")
        row = 0 if name is None else named(read, name)
        if row is None:
            some = ", ".join(label(ad, place) for place, ad in enumerate(read[:3]))
            more = ", ..." if len(read) > 3 else ""
            raise RefusedLineError(f"{path}: no ad with the name {name}; it has {some}{more}")
        which = f", ad {row + 1} of {len(read)}" if len(read) > 1 else ""
        self.ads[side] = SessionAd(read[row], f"{label(read[row], row)} ({path}{which})")
        if self.interactive:
            click.echo(self.describe(side))
            if len(read) > 1 and name is None:
                click.echo(f"Use :{side.lower()} FILE NAME for another one.")

    def describe(self, side: Side) -> str:
        """Return a line on the ad that is MY or TARGET."""
        current = self.ads.get(side)
        if current is None:
            return f"{side} is not set"
        count = len(current.ad)
        return printable(f"{side} is {current.origin}, {count} attribute{'' if count == 1 else 's'}")

    def replace(self, side: Side, ad: Ad) -> None:
        """Replace MY or TARGET with a changed ad."""
        current = self.ads.get(side)
        self.ads[side] = SessionAd(ad, current.origin if current else "an ad made here")


Run: TypeAlias = Callable[[Session, TypedLine], None]


@attrs.frozen
class Command:
    """A command, its help, and whether it needs arguments."""

    run: Run
    usage: str
    help: str
    needs_arguments: bool = False


def _use(side: Side) -> Run:
    def run(session: Session, line: TypedLine) -> None:
        try:
            words = shlex.split(line.rest)
        except ValueError as error:
            raise RefusedLineError(f"{error}: close the quotes of the file name") from None
        if not 1 <= len(words) <= 2:
            raise RefusedLineError(f"usage: :{side.lower()} FILE [NAME]")
        session.use(side, Path(words[0]).expanduser(), words[1] if len(words) > 1 else None)

    return run


def _ads(session: Session, line: TypedLine) -> None:  # noqa: ARG001
    for side in Side:
        click.echo(session.describe(side))


def _set(session: Session, line: TypedLine) -> None:
    equals = line.text.find("=", line.start)
    if equals < 0:
        raise RefusedLineError("usage: :set NAME = EXPR, or :set TARGET.NAME = EXPR")
    side, name = _reference(line.expression(end=equals))
    expr = line.expression(equals + 1)
    current = session.ads.get(side or Side.MY)
    session.replace(side or Side.MY, (current.ad if current else Ad()).with_items([(name, expr)]))


def _unset(session: Session, line: TypedLine) -> None:
    side, name = _attribute(line)
    current = session.ads.get(side or Side.MY)
    if current is None or name not in current.ad:
        raise RefusedLineError(f"{side or Side.MY} has no attribute {name}")
    session.replace(side or Side.MY, Ad([item for item in current.ad.items() if fold(item[0]) != fold(name)]))


def _show(session: Session, line: TypedLine) -> None:
    chosen = Side.__members__.get(line.rest.upper())
    if line.rest and chosen is None:
        _show_attribute(session, *_attribute(line))
        return
    for each, current in session.ads.items():
        if chosen not in {None, each}:
            continue
        click.echo(f"{session.describe(each)}{':' if len(current.ad) else ''}")
        for name, expr in current.ad.items():
            click.echo(f"  {_shown(name, expr)}")


def _show_attribute(session: Session, side: Side | None, name: str) -> None:
    ads = {each: current.ad for each, current in session.ads.items() if side in {None, each}}
    found = {each: expr for each, ad in ads.items() if (expr := ad.get(name)) is not None}
    if not found:
        raise RefusedLineError(
            f"{side} has no attribute {name}" if side else f"neither ad has an attribute {name}"
        )
    for each, expr in found.items():
        click.echo(_shown(f"{each}.{name}", expr))


def _shown(name: str, expr: Expr) -> str:
    return printable(f"{name} = {redact(unparse(expr))}")


def _trace(session: Session, line: TypedLine) -> None:
    from negotiator.cli.steps import print_trace

    print_trace(trace(line.expression(), session.my, session.target, session.environment))


def _help(session: Session, line: TypedLine) -> None:  # noqa: ARG001
    click.echo("An expression is evaluated on two ads, MY and TARGET. Commands:")
    width = max(len(command.usage) for command in COMMANDS.values())
    for command in COMMANDS.values():
        click.echo(f"  {command.usage.ljust(width)}  {command.help}")


def _quit(session: Session, line: TypedLine) -> NoReturn:  # noqa: ARG001
    raise EndOfSessionError


def _attribute(line: TypedLine) -> tuple[Side | None, str]:
    return _reference(line.expression())


def _reference(expr: Expr) -> tuple[Side | None, str]:
    """Return side and name of ``Name``, ``MY.Name`` or ``TARGET.Name``."""
    match expr:
        case Attr(name, None, absolute=False):
            return None, name
        case Attr(name, Attr(scope, None, absolute=False)) if fold(scope) in SIDES:
            return SIDES[fold(scope)], name
    raise RefusedLineError("must be an attribute: Name, MY.Name or TARGET.Name")


def _command_name(word: str) -> str:
    """Return the name of the command with this beginning."""
    found = [name for name in COMMANDS if name.startswith(word.lower())]
    if word.lower() in COMMANDS:
        return word.lower()
    if len(found) == 1:
        return found[0]
    raise RefusedLineError(f"unknown command :{word}; :help lists the commands")


COMMANDS: dict[str, Command] = {
    "my": Command(_use(Side.MY), ":my FILE [NAME]", "make the first ad of a file, or this one, MY", True),
    "target": Command(_use(Side.TARGET), ":target FILE [NAME]", "the same for TARGET", True),
    "ads": Command(_ads, ":ads", "show which ads are MY and TARGET"),
    "show": Command(_show, ":show [NAME]", "show an attribute; MY, TARGET or nothing: all"),
    "set": Command(_set, ":set NAME = EXPR", "give MY an attribute, or TARGET for TARGET.NAME", True),
    "unset": Command(_unset, ":unset NAME", "remove an attribute", True),
    "trace": Command(_trace, ":trace EXPR", "print each part of an expression with its value", True),
    "help": Command(_help, ":help", "list the commands"),
    "quit": Command(_quit, ":quit", "end the session, as Ctrl-D does"),
}
