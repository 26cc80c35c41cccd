"""Checks of what plugins declare when a bundle is loaded: sections, commands, constraints, attributes, placement rules, bundles to start from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import attrs
import click

from negotiator.classad import Expr
from negotiator.hooks.accounts import OrderAccounts, SharedRows
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.declarations import (
    Constraint,
    ConstraintSide,
    DeclaredRule,
    EvaluatedWith,
    GateTest,
    Section,
)
from negotiator.hooks.fields import (
    MAX_NAME,
    WrongAnswerError,
    check_exactly,
    check_instance,
    check_overruns,
    checked_name,
    checked_rule,
    checked_text,
    kind_of,
)
from negotiator.hooks.order_type import RequestOrderType
from negotiator.hooks.overruns import Reuse
from negotiator.hooks.placement import PlacementRule
from negotiator.hooks.pool_source import PoolSource
from negotiator.hooks.settings import KnownSetting
from negotiator.hooks.starting_bundles import SampleJob, StartingBundle, StartingFiles, StartingQuestion

MAX_PATTERNS = 100  # of the files, and of the knobs, of a Section
MAX_KNOWN = 10_000  # settings of another program

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}", re.ASCII)
_KNOBS = re.compile(r"[A-Za-z0-9_.*?]*[A-Za-z0-9][A-Za-z0-9_.*?]*", re.ASCII)
_CONFIGURED = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
#: The test that the program adds to a bundle with sample jobs.
OBSERVED_TEST: Final = "site_test.yaml"
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")


def checked_section(record: Any, arguments: Mapping[str, Any]) -> Section:
    """Return a Section with an attrs class and, if given, a check that can be called and patterns of files and knobs."""
    del arguments
    check_exactly(record, Section, "a Section")
    if not (isinstance(record.schema, type) and attrs.has(record.schema)):
        raise WrongAnswerError(
            f"expected an attrs class as schema of a Section, got {kind_of(record.schema)}"
        )
    for name in ("check", "check_queues", "rules"):
        function = getattr(record, name)
        if function is not None and not callable(function):
            raise WrongAnswerError(f"expected a function as {name} of a Section, got {kind_of(function)}")
    check_instance(record.evaluated, Mapping, "a mapping as evaluated of a Section")
    for use in record.evaluated.values():
        check_exactly(use, EvaluatedWith, "an EvaluatedWith as a value of evaluated of a Section")
    for what, patterns in (
        ("files", record.files),
        ("knobs", record.knobs),
        ("pool_knobs", record.pool_knobs),
    ):
        if type(patterns) is not tuple or len(patterns) > MAX_PATTERNS:
            raise WrongAnswerError(
                f"expected a tuple of up to {MAX_PATTERNS} patterns as {what} of a Section, got {kind_of(patterns)}"
            )
    for pattern in record.files:
        _check_pattern(pattern)
    for pattern in record.knobs:
        checked_name(pattern, "pattern of knobs of a Section")
        if _KNOBS.fullmatch(pattern) is None:
            raise WrongAnswerError(f"the knobs {pattern!r} of a Section: expected a name with * or ?")
    for pattern in record.pool_knobs:
        checked_name(pattern, "name or pattern of pool_knobs of a Section")
    if type(record.apart) is not tuple or not all(
        isinstance(key, str) and key.isidentifier() for key in record.apart
    ):
        raise WrongAnswerError("expected a tuple of keys of the class as apart of a Section")
    if type(record.known) is not tuple or len(record.known) > MAX_KNOWN:
        raise WrongAnswerError(
            f"expected a tuple of up to {MAX_KNOWN} settings as known of a Section, got {kind_of(record.known)}"
        )
    section: Section = attrs.evolve(record, known=tuple(map(_checked_known, record.known)))
    return section


def checked_declared_rule(record: Any) -> DeclaredRule:
    """Return a DeclaredRule whose every field is of its type."""
    check_exactly(record, DeclaredRule, "a DeclaredRule")
    for name in ("grants", "kept_by_schedds"):
        check_exactly(getattr(record, name), bool, f"a bool as {name} of a DeclaredRule")
    _check_reuse(record)
    if record.gate is not None:
        check_exactly(record.gate, GateTest, "a GateTest or None as gate of a DeclaredRule")
        check_instance(record.gate.expression, Expr, "an expression in a GateTest")
        if type(record.gate.kinds) is not tuple or not all(
            type(each) is AdKind for each in record.gate.kinds
        ):
            raise WrongAnswerError("expected a tuple of kinds of ads in a GateTest")
        checked_text(record.gate.reason, "reason of a GateTest")
    rule: DeclaredRule = attrs.evolve(record, **checked_rule(record, "DeclaredRule"))
    return rule


def checked_command(record: Any, arguments: Mapping[str, Any]) -> click.Command:
    """Return a click command that has a name."""
    del arguments
    check_instance(record, click.Command, "a click.Command")
    checked_name(record.name, "name of a command")
    return record  # type: ignore[no-any-return]


def checked_constraint(record: Any, arguments: Mapping[str, Any]) -> Constraint:
    """Return a Constraint whose every field is of its type."""
    del arguments
    check_exactly(record, Constraint, "a Constraint")
    check_instance(record.side, ConstraintSide, "a ConstraintSide as side of a Constraint")
    check_instance(record.expression, Expr, "an expression (negotiator.plugin.parse) in a Constraint")
    check_overruns(record, "Constraint")
    _check_reuse(record)
    constraint: Constraint = attrs.evolve(record, **checked_rule(record, "Constraint"))
    return constraint


def checked_attribute(record: Any, arguments: Mapping[str, Any]) -> str:
    """Return the name of a job attribute in lower case: names ignore case."""
    del arguments
    if type(record) is not str or _ATTRIBUTE.fullmatch(record) is None:
        shown = repr(record[:MAX_NAME]) if type(record) is str else kind_of(record)
        raise WrongAnswerError(f"expected the name of an attribute, got {shown}")
    return record.lower()


def checked_policy(record: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the object: only its own plugin uses it."""
    del arguments
    return record


def checked_hook_name(record: Any, arguments: Mapping[str, Any]) -> str:
    """Return the name of a hook; the manager knows which hooks a plugin implements."""
    del arguments
    return checked_name(record, "name of a hook")


def checked_placement_rule(record: Any, arguments: Mapping[str, Any]) -> PlacementRule:
    """Return a PlacementRule with a name that a configuration may give, and functions that can be called."""
    del arguments
    check_exactly(record, PlacementRule, "a PlacementRule")
    name = _configured_name(record.name, "PlacementRule")
    for function in (record.target, record.tags):
        if not callable(function):
            raise WrongAnswerError(f"expected functions in a PlacementRule, got {kind_of(function)}")
    for flag in (record.needs_value, record.takes_value, record.fixed):
        check_exactly(flag, bool, "True or False as needs_value, takes_value and fixed of a PlacementRule")
    text = checked_text(record.absent, "absent of a PlacementRule")
    rule: PlacementRule = attrs.evolve(record, name=name.lower(), absent=text)
    return rule


def checked_order(record: Any, arguments: Mapping[str, Any]) -> RequestOrderType:
    """Return a RequestOrderType with a name that a bundle may give, and a function that can be called."""
    del arguments
    check_exactly(record, RequestOrderType, "a RequestOrderType")
    _configured_name(record.name, "RequestOrderType")
    for function in (record.make, record.ranks, record.check_row, record.change, record.check_queues):
        if not callable(function):
            raise WrongAnswerError(f"expected functions in a RequestOrderType, got {kind_of(function)}")
    check_exactly(record.in_queue_order, bool, "True or False as in_queue_order of a RequestOrderType")
    check_exactly(record.is_default, bool, "True or False as is_default of a RequestOrderType")
    check_exactly(record.queue_keys, frozenset, "a frozenset as queue_keys of a RequestOrderType")
    if record.accounts is not None:
        check_exactly(
            record.accounts, OrderAccounts, "OrderAccounts or None as accounts of a RequestOrderType"
        )
        if not callable(record.accounts.report) or not callable(record.accounts.change_text):
            raise WrongAnswerError("expected functions in OrderAccounts")
    if record.sharing is not None:
        check_exactly(record.sharing, SharedRows, "SharedRows or None as sharing of a RequestOrderType")
        for function in (
            record.sharing.is_shared,
            record.sharing.begin,
            record.sharing.rebase,
            record.sharing.join,
        ):
            if not callable(function):
                raise WrongAnswerError(f"expected functions in SharedRows, got {kind_of(function)}")
    return record  # type: ignore[no-any-return]


def checked_pool_source(record: Any, arguments: Mapping[str, Any]) -> PoolSource:
    """Return a PoolSource with a name that a bundle may give, and functions that can be called."""
    del arguments
    check_exactly(record, PoolSource, "a PoolSource")
    _configured_name(record.name, "PoolSource")
    if not callable(record.open):
        raise WrongAnswerError(f"expected a function as open of a PoolSource, got {kind_of(record.open)}")
    for name in ("observe", "at", "configuration"):
        function = getattr(record, name)
        if function is not None and not callable(function):
            raise WrongAnswerError(
                f"expected a function or None as {name} of a PoolSource, got {kind_of(function)}"
            )
    return record  # type: ignore[no-any-return]


def _check_reuse(record: Any) -> None:
    if record.reuse is not None:
        check_exactly(record.reuse, Reuse, "a Reuse or None as reuse of a rule")


def _configured_name(name: Any, record: str) -> str:
    """Return the name by which a bundle chooses what a plugin declares: a letter, then letters, digits and _."""
    checked = checked_name(name, f"name of a {record}")
    if _CONFIGURED.fullmatch(checked) is None:
        raise WrongAnswerError(f"expected letters, digits and _ as name of a {record}, got {checked!r}")
    return checked


def _checked_known(record: Any) -> KnownSetting:
    check_exactly(record, KnownSetting, "a KnownSetting in known of a Section")
    name = checked_name(record.name, "name of a KnownSetting")
    if _KNOBS.fullmatch(name) is None:
        raise WrongAnswerError(f"expected letters, digits, _ and . as name of a KnownSetting, got {name!r}")
    check_exactly(record.decides, bool, "True or False as decides of a KnownSetting")
    texts = {
        field: checked_text(getattr(record, field), f"{field} of a KnownSetting")
        for field in ("default", "plugin", "reason", "hint")
    }
    if bool(texts["plugin"]) == bool(texts["reason"]):
        raise WrongAnswerError(f"expected the plugin that reads {name}, or the reason why it has no effect")
    known: KnownSetting = attrs.evolve(record, name=name, **texts)
    return known


def _check_pattern(pattern: Any) -> None:
    checked_name(pattern, "pattern of files of a Section")
    if "/" in pattern or pattern.startswith(".") or pattern.endswith("~"):
        raise WrongAnswerError(
            f"the files {pattern!r} of a Section: expected those at the top of the bundle, neither hidden nor *~"
        )


def checked_starting_bundle(record: Any, arguments: Mapping[str, Any]) -> StartingBundle:
    """Return a StartingBundle with a name for the command line, texts in one line, and functions that can be called."""
    del arguments
    check_exactly(record, StartingBundle, "a StartingBundle")
    _check_name(record.name, "name of a StartingBundle")
    if not callable(record.make):
        raise WrongAnswerError(f"expected a function as make of a StartingBundle, got {kind_of(record.make)}")
    if record.recognizes is not None and not callable(record.recognizes):
        raise WrongAnswerError(
            f"expected a function or None as recognizes of a StartingBundle, got {kind_of(record.recognizes)}"
        )
    check_exactly(record.questions, tuple, "a tuple of StartingQuestions as questions of a StartingBundle")
    bundle: StartingBundle = attrs.evolve(
        record,
        description=checked_text(record.description, "description of a StartingBundle"),
        own_files=checked_text(record.own_files, "own_files of a StartingBundle"),
        questions=tuple(map(_checked_question, record.questions)),
    )
    return bundle


def checked_starting_files(record: Any) -> StartingFiles:
    """Return StartingFiles whose names stay inside the folder of the bundle, with bytes as contents."""
    check_exactly(record, StartingFiles, "StartingFiles")
    check_instance(record.files, Mapping, "a dict as files of StartingFiles")
    for name, content in record.files.items():
        path = PurePosixPath(checked_name(name, "name of a file in StartingFiles"))
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise WrongAnswerError(f"expected the name of a file inside the bundle, got {name!r}")
        check_exactly(content, bytes, f"bytes as content of {name} in StartingFiles")
    if record.sample_jobs is not None:
        if not callable(record.sample_jobs):
            raise WrongAnswerError(
                f"expected a function or None as sample_jobs of StartingFiles, got {kind_of(record.sample_jobs)}"
            )
        if OBSERVED_TEST in record.files:
            raise WrongAnswerError(
                f"expected either sample_jobs or {OBSERVED_TEST} in StartingFiles, got both"
            )
    return StartingFiles(dict(record.files), record.sample_jobs)


def checked_sample_job(record: Any) -> SampleJob:
    """Return a SampleJob whose attributes have names and plain values."""
    check_exactly(record, SampleJob, "a SampleJob")
    check_instance(record.attributes, Mapping, "a dict as attributes of a SampleJob")
    check_exactly(record.groups, tuple, "a tuple as groups of a SampleJob")
    for name, value in record.attributes.items():
        checked_attribute(name, {})
        if type(value) not in {bool, int, float, str}:
            raise WrongAnswerError(
                f"expected a string, a number or a bool as {name} of a SampleJob, got {kind_of(value)}"
            )
    return SampleJob(
        dict(record.attributes),
        tuple(checked_name(group, "group of a SampleJob") for group in record.groups),
        checked_text(record.machine, "machine of a SampleJob"),
    )


def _checked_question(record: Any) -> StartingQuestion:
    check_exactly(record, StartingQuestion, "a StartingQuestion")
    _check_name(record.name, "name of a StartingQuestion")
    check_exactly(record.choices, tuple, "a tuple of strings as choices of a StartingQuestion")
    choices = _texts(record.choices, "choice of a StartingQuestion")
    default = record.default
    if default is not None:
        default = checked_text(default, "default of a StartingQuestion")
        if choices and default not in choices:
            raise WrongAnswerError(
                f"expected one of the choices as default of {record.name}, got {default!r}"
            )
    text = checked_text(record.text, "text of a StartingQuestion")
    return StartingQuestion(record.name, text, default, choices)


def _texts(values: Iterable[Any], what: str) -> tuple[str, ...]:
    return tuple(checked_text(each, what) for each in values)


def _check_name(name: Any, what: str) -> None:
    if _NAME.fullmatch(checked_name(name, what)) is None:
        raise WrongAnswerError(f"expected lower-case letters, digits and hyphens as {what}, got {name!r}")
