"""What the REPL knows and does: two ads, expressions on them, and the commands that begin with a colon."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

import attrs
import click

from negotiator.classad import ClassAd, Environment, Expr, Side, evaluate, unparse, unparse_value
from negotiator.classad.scalar import trace
from negotiator.classad.syntax import SIDES, Attr, fold
from negotiator.cli.ads import label, load, named
from negotiator.cli.expressions import Unparsable, read_expression
from negotiator.cli.render import printable
from negotiator.cli.steps import print_trace
from negotiator.pool.secrets import redact

_COMMENTS = ("#", "//")
_COMMAND = re.compile(r":\s*(\S*)\s*")


class RefusedLineError(Exception):
    """A line asks for what there is not."""


class Leave(Exception):  # noqa: N818 - as StopIteration
    """The session is over."""


@attrs.frozen
class TypedLine:
    """A line that was typed: the part after the command begins at ``start``; its ``number`` in a file, or 0."""

    text: str
    start: int = 0
    number: int = 0

    @property
    def rest(self) -> str:
        """What stands after the command."""
        return self.text[self.start :]

    def expression(self, start: int | None = None, end: int | None = None) -> Expr:
        """Parse a part of the line (Unparsable)."""
        name = "<stdin>" if self.number else "expression"
        begin = self.start if start is None else start
        return read_expression(self.text[:end], begin, name=name, line=self.number)


@attrs.frozen
class SessionAd:
    """An ad of the session, and for people, which it is."""

    ad: ClassAd
    what: str


@attrs.define
class Session:
    """Two ads, of which TARGET may be missing, and the time that expressions see (None for the clock's).

    ``talks`` is whether somebody is listening who wants more than was asked for.
    """

    now: float | None = None
    talks: bool = False
    ads: dict[Side, SessionAd] = attrs.field(factory=lambda: {Side.MY: SessionAd(ClassAd(), "an empty ad")})

    @property
    def my(self) -> ClassAd:
        """The ad that expressions belong to."""
        return self.ads[Side.MY].ad

    @property
    def target(self) -> ClassAd | None:
        """The other ad, if there is one."""
        other = self.ads.get(Side.TARGET)
        return other.ad if other else None

    @property
    def environment(self) -> Environment:
        """What expressions see of the world at this moment."""
        return Environment(now=time.time() if self.now is None else self.now)

    def read(self, text: str, number: int = 0) -> bool:
        """Do what a line says: print the value of an expression, or obey a command (Leave). False where that fails.

        ``number`` is that of a line of a file; what is wrong is told on standard error.
        """
        try:
            self._do(text.strip(), number)
        except Unparsable as wrong:
            wrong.show()
        except RefusedLineError as refusal:
            where = f"<stdin>:{number}: " if number else ""
            click.echo(f"{where}error: {printable(str(refusal))}", err=True)
        else:
            return True
        return False

    def _do(self, text: str, number: int) -> None:
        if not text or text.startswith(_COMMENTS):
            return
        word = _COMMAND.match(text)
        if word is None:
            value = evaluate(TypedLine(text, 0, number).expression(), self.my, self.target, self.environment)
            click.echo(printable(unparse_value(value)))
            return
        command = COMMANDS[_full(word[1])]
        if command.needs_more and word.end() == len(text):
            raise RefusedLineError(f"say {command.usage}")
        command.run(self, TypedLine(text, word.end(), number))

    def take(self, side: Side, path: Path, name: str | None = None) -> None:
        """Let an ad of a file be MY or TARGET: the one of that name, else the first (Refused)."""
        if str(path) == "-":
            raise RefusedLineError("expressions come from standard input; name a file")
        read = load(path).ads
        if not read:
            raise RefusedLineError(f"{side} stays as it was")
        row = 0 if name is None else named(read, name)
        if row is None:
            some = ", ".join(label(ad, place) for place, ad in enumerate(read[:3]))
            more = ", ..." if len(read) > 3 else ""
            raise RefusedLineError(f"{path} has no ad called {name}; it has {some}{more}")
        which = f", ad {row + 1} of {len(read)}" if len(read) > 1 else ""
        self.ads[side] = SessionAd(read[row], f"{label(read[row], row)} ({path}{which})")
        if self.talks:
            click.echo(self.told(side))
            if len(read) > 1 and name is None:
                click.echo(f":{side.lower()} FILE NAME takes another one.")

    def told(self, side: Side) -> str:
        """Tell which ad is MY or TARGET."""
        held = self.ads.get(side)
        if held is None:
            return f"{side} is none"
        count = len(held.ad)
        return printable(f"{side} is {held.what}, {count} attribute{'' if count == 1 else 's'}")

    def put(self, side: Side, ad: ClassAd) -> None:
        """Let a changed ad take the place of MY or TARGET."""
        held = self.ads.get(side)
        self.ads[side] = SessionAd(ad, held.what if held else "an ad made here")


Run: TypeAlias = Callable[[Session, TypedLine], None]


@attrs.frozen
class Command:
    """What a word after a colon does, how that is told, and whether it has to say more than the word."""

    run: Run
    usage: str
    help: str
    needs_more: bool = False


def _take(side: Side) -> Run:
    def run(session: Session, line: TypedLine) -> None:
        try:
            words = shlex.split(line.rest)
        except ValueError as error:
            raise RefusedLineError(f"{error}: a quote in the name of a file has to be closed") from None
        if not 1 <= len(words) <= 2:
            raise RefusedLineError(
                f"say :{side.lower()} FILE, or :{side.lower()} FILE NAME for one of its ads"
            )
        session.take(side, Path(words[0]).expanduser(), words[1] if len(words) > 1 else None)

    return run


def _ads(session: Session, line: TypedLine) -> None:  # noqa: ARG001
    for side in Side:
        click.echo(session.told(side))


def _set(session: Session, line: TypedLine) -> None:
    equals = line.text.find("=", line.start)
    if equals < 0:
        raise RefusedLineError("say :set NAME = EXPR, or :set TARGET.NAME = EXPR")
    side, name = _reference(line.expression(end=equals))
    expr = line.expression(equals + 1)
    held = session.ads.get(side or Side.MY)
    session.put(side or Side.MY, (held.ad if held else ClassAd()).with_items([(name, expr)]))


def _unset(session: Session, line: TypedLine) -> None:
    side, name = _attribute(line)
    held = session.ads.get(side or Side.MY)
    if held is None or name not in held.ad:
        raise RefusedLineError(f"{side or Side.MY} has no attribute {name}")
    session.put(side or Side.MY, ClassAd([item for item in held.ad.items() if fold(item[0]) != fold(name)]))


def _show(session: Session, line: TypedLine) -> None:
    chosen = Side.__members__.get(line.rest.upper())
    if line.rest and chosen is None:
        _show_attribute(session, *_attribute(line))
        return
    for each, held in session.ads.items():
        if chosen not in {None, each}:
            continue
        click.echo(f"{session.told(each)}{':' if len(held.ad) else ''}")
        for name, expr in held.ad.items():
            click.echo(f"  {_shown(name, expr)}")


def _show_attribute(session: Session, side: Side | None, name: str) -> None:
    ads = {each: held.ad for each, held in session.ads.items() if side in {None, each}}
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
    print_trace(trace(line.expression(), session.my, session.target, session.environment))


def _help(session: Session, line: TypedLine) -> None:  # noqa: ARG001
    click.echo("Expressions are evaluated on two ads, MY and TARGET. Commands:")
    width = max(len(command.usage) for command in COMMANDS.values())
    for command in COMMANDS.values():
        click.echo(f"  {command.usage.ljust(width)}  {command.help}")


def _quit(session: Session, line: TypedLine) -> NoReturn:  # noqa: ARG001
    raise Leave


def _attribute(line: TypedLine) -> tuple[Side | None, str]:
    return _reference(line.expression())


def _reference(expr: Expr) -> tuple[Side | None, str]:
    """Take ``Name``, ``MY.Name`` or ``TARGET.Name`` apart."""
    match expr:
        case Attr(name, None, absolute=False):
            return None, name
        case Attr(name, Attr(scope, None, absolute=False)) if fold(scope) in SIDES:
            return SIDES[fold(scope)], name
    raise RefusedLineError("name an attribute: Name, MY.Name or TARGET.Name")


def _full(word: str) -> str:
    """Complete the beginning of a command."""
    found = [name for name in COMMANDS if name.startswith(word.lower())]
    if word.lower() in COMMANDS:
        return word.lower()
    if len(found) == 1:
        return found[0]
    raise RefusedLineError(f"there is no command :{word}; :help lists those there are")


COMMANDS: dict[str, Command] = {
    "my": Command(
        _take(Side.MY), ":my FILE [NAME]", "let the first ad of a file be MY, or that of a name", True
    ),
    "target": Command(_take(Side.TARGET), ":target FILE [NAME]", "the same for TARGET", True),
    "ads": Command(_ads, ":ads", "which ads are MY and TARGET"),
    "show": Command(_show, ":show [NAME]", "an attribute as it is written; MY, TARGET or nothing: all"),
    "set": Command(_set, ":set NAME = EXPR", "put an attribute into MY, or TARGET.NAME into TARGET", True),
    "unset": Command(_unset, ":unset NAME", "take one out again", True),
    "trace": Command(_trace, ":trace EXPR", "the value, and how it came about", True),
    "help": Command(_help, ":help", "this list"),
    "quit": Command(_quit, ":quit", "leave, as Ctrl-D does"),
}
