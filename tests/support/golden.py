"""Conformance cases of the language, computed by HTCondor's own library (conformance/classad/README.md).

A folder of cases has files of JSON lines, gzipped or plain, with any names, and optionally ``ads.json`` (or ``ads.json.gz``),
the ads that lines refer to by name. Unreadable files and lines are reported by file and line; they do not raise.
"""

import functools
import gzip
import json
import zlib
from pathlib import Path

import attrs
import yaml

from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Environment,
    ParseError,
    parse,
    parse_ad,
    parse_old,
    unparse_value,
)
from negotiator.classad.context import AdValue, ListValue
from negotiator.classad.values import AbsTime, RelTime

NOON = Environment(now=1_700_000_000.0)
_FORMS = {
    frozenset({"undefined"}),
    frozenset({"error"}),
    frozenset({"real"}),
    frozenset({"reltime"}),
    frozenset({"abstime"}),
    frozenset({"list", "text"}),
    frozenset({"ad"}),
    frozenset({"parse_error"}),
    frozenset({"evalfail"}),
}


class UnreadableError(Exception):
    """An invalid file or line of the corpus. The message names it and the reason."""


@attrs.frozen
class Case:
    """A line: an expression, its ads by text or by name, and the value in the form of ``recorded``.

    ``match`` lines have no expression: the value is whether the Requirements of both ads are true.
    """

    id: str
    expr: str
    my: str | None
    target: str | None
    value: object
    old: bool
    match: bool

    @functools.cached_property
    def tree(self):
        """The expression, None if its text is invalid."""
        try:
            return (parse_old if self.old else parse)(self.expr)
        except ParseError:
            return None


@attrs.define
class File:
    """The contents of a file: its cases, the number of lines without a definite value, and its problems."""

    name: str
    cases: list[Case] = attrs.field(factory=list)
    nondeterministic: int = 0
    problems: list[str] = attrs.field(factory=list)


class Folder:
    """A folder of cases."""

    def __init__(self, path):
        self.path = Path(path)
        self._parsed = {}

    def files(self):
        """The sorted names of the files of cases."""
        return case_files(self.path, ".jsonl")

    @functools.cached_property
    def ads(self):
        """The texts of the ads that lines refer to, by name."""
        path = plain_or_gzipped(self.path / "ads.json")
        if not path.exists():
            return {}
        try:
            texts = json.loads(b"".join(lines_of(path)))
        except (UnreadableError, ValueError) as error:
            raise UnreadableError(f"{path}: {error}") from error
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise UnreadableError(f"{path}: expected an object from names to ads as text")
        return texts

    def ad(self, text):
        """Return the ad with this text or name, None if there is neither. Raises ``ParseError``."""
        if text is None:
            return None
        if text not in self._parsed:
            self._parsed[text] = parse_ad(self.ads[text[1:]] if text.startswith("@") else text)
        return self._parsed[text]

    def ads_of(self, case):
        """Return the ads of a line, or an error in the form of a value that the corpus does not have."""
        try:
            return self.ad(case.my), self.ad(case.target)
        except ParseError as error:
            return {"invalid ad": str(error)}

    def read(self, name):
        """Return the cases of a file. Does not raise: errors are in ``problems``."""
        file = File(name)
        path = self.path / name
        try:
            for number, line in enumerate(lines_of(path), 1):
                try:
                    if line.strip():
                        self._take(line, file)
                except UnreadableError as error:
                    file.problems.append(f"{path}:{number}: {error}")
        except UnreadableError as error:
            file.problems.append(f"{path}: {error}")
        return file

    def _take(self, line, file):
        try:
            content = json.loads(line)
        except ValueError as error:
            raise UnreadableError(f"no JSON: {error}") from error
        if not isinstance(content, dict):
            raise UnreadableError(f"expected an object, not {type(content).__name__}")
        case = self._case(content)
        if content.get("nondet"):
            file.nondeterministic += 1
        else:
            file.cases.append(case)

    def _case(self, content):
        for key in ("id", "expr", "type"):
            if not isinstance(content.get(key), str):
                raise UnreadableError(f"{key!r} is to be a string, not {content.get(key)!r}")
        for key in ("my", "target"):
            self._check_ad(key, content.get(key))
        if "value" not in content:
            raise UnreadableError("there is no 'value'")
        return Case(
            id=content["id"],
            expr=content["expr"],
            my=content.get("my"),
            target=content.get("target"),
            value=_expected(content["value"]),
            old=content.get("syntax") == "old",
            match=content["type"] == "match",
        )

    def _check_ad(self, key, text):
        if text is not None and not isinstance(text, str):
            raise UnreadableError(f"{key!r} is to be null, an ad as text or @name, not {text!r}")
        if text is not None and text.startswith("@") and text[1:] not in self.ads:
            raise UnreadableError(f"{key!r} is {text}, which the ads.json of {self.path} does not have")


OURS = Folder(Path(__file__).parent.parent / "conformance" / "classad")
"""The corpus of this repository."""


def case_files(path, end):
    """Return the sorted names of the files of a folder that end so, plain or gzipped; none if there is no folder."""
    names = [each.name for each in path.iterdir()] if path.is_dir() else []
    return sorted(name for name in names if name.endswith((end, f"{end}.gz")))


def plain_or_gzipped(path):
    """Return the path of a file, with ``.gz`` after it if only that exists."""
    gzipped = path.with_name(f"{path.name}.gz")
    return gzipped if gzipped.exists() and not path.exists() else path


def lines_of(path):
    """Yield the lines of a file, plain or gzipped. Raises ``UnreadableError``."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            yield from file
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(str(error) or type(error).__name__) from error


def yaml_content(path):
    """Return the content of a file of YAML, plain or gzipped. Raises ``UnreadableError``."""
    try:
        return yaml.load(b"".join(lines_of(path)), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except (ValueError, yaml.YAMLError) as error:
        raise UnreadableError(str(error)) from error


def _expected(value):
    """Return the recorded value of a line in the form of ``recorded``. A failed evaluation is an error here."""
    if isinstance(value, bool | int | str):
        return value
    if not isinstance(value, dict) or frozenset(value) not in _FORMS:
        raise UnreadableError(f"'value' has none of the forms that the README lists: {value!r:.200}")
    if "list" in value:
        return {"text": value["text"]}
    return {"error": True} if "evalfail" in value else value


def recorded(value):
    """Return a value in the form of the corpus."""
    simple = {UNDEFINED: {"undefined": True}, ERROR: {"error": True}}
    match value:
        case bool() | int() | str():
            return value
        case float():
            return {"real": repr(value)}
        case RelTime(seconds):
            return {"reltime": repr(seconds)}
        case AbsTime():
            return {"abstime": unparse_value(value)}
        case ListValue():
            return {"text": unparse_value(value)}
        case AdValue():
            return {"ad": unparse_value(value)}
    return simple[value]


def attempt(function, *args):
    """Return the value of a function in the form of the corpus; the exception if it raises, which is a failure."""
    try:
        return recorded(function(*args))
    except Exception as error:  # noqa: BLE001 - any exception is reported as a failure of its line
        return {"raised": repr(error)}


def same(one, other):
    """True if two recorded values are equal; 1 and true are not."""
    return type(one) is type(other) and one == other


def verdict(file, values, not_passing):
    """The results of a file: counts, and a text for each failure.

    A case passes if all its values are the recorded ones. A case in ``not_passing`` must not pass.
    """
    failures = list(file.problems)
    passed = failed = without = 0
    for case, found in zip(file.cases, values, strict=True):
        wrong = next((value for value in found if not same(value, case.value)), None)
        if not found:
            without += 1
        elif wrong is None:
            passed += 1
            if case.id in not_passing:
                failures.append(f"{case.id} passes: take it off the list of those that cannot")
        elif case.id not in not_passing:
            failed += 1
            failures.append(
                f"{case.id}: {_cut(case.expr)}\n    got {_cut(wrong)}, expected {_cut(case.value)}"
            )
    counts = {
        "passed": passed,
        "failed": failed,
        "that cannot pass": len(file.cases) - passed - failed - without,
        "without an ad to be a row": without,
        "not deterministic": file.nondeterministic,
        "could not be read": len(file.problems),
    }
    return counts, failures


def _cut(value):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 300 else f"{text[:300]}... ({len(text)} letters)"
