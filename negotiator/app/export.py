"""Use case: the policies of a bundle as HTCondor's configuration of startds and schedds, for those that can be written there.

Source: HTCondor manual, "START" (startds), "Submit Requirements" and "Job Transforms" (schedds); tried with HTCondor 25.14.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from negotiator.app.targets import load
from negotiator.bundle import Bundle
from negotiator.bundle.reuse import POLICY, ReusePlan, ReuseRule, RuleKind, of_whole_slot, swapped
from negotiator.classad import Expr, Side, unparse, unparse_old
from negotiator.classad.syntax import AdRef, Attr, Binary, Literal, Paren
from negotiator.classad.values import UNDEFINED
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records.text import printable

LINE: Final = f"START = ($(START)) && ({POLICY} =!= false)"
"""The one line of startds by which claims are used within the policy of their match, whatever the bundle says."""

_LONGEST: Final = 300  # characters of a comment
_NAME: Final = "NegotiatorPolicy"  # of submit requirements and transforms, with a number


def export_startd(targets: CommandTargets) -> list[str]:
    """Return the lines for the configuration of startds: the generic line, the rules themselves, and what they leave out.

    :raises BundleError: the bundle has errors.
    """
    bundle = load(targets)
    plan = ReusePlan.of(bundle)
    lines = [
        *_head(bundle, "startds"),
        *_comment(
            "A schedd uses a claim for a further job only if the policy of the match permits it. Bundles change without this line."
        ),
        LINE,
        "",
        *_comment(
            "The rules of the bundle, for every job that starts. They are those of the bundle above: export them again when it changes."
        ),
    ]
    written = [each for each in plan.rules if each.condition is not None]
    for each, condition in _conditions(written):
        lines += [*_rule(each), f"START = ($(START)) && ({_value(_of_start(each, condition))})"]
    return [*lines, *_left_out(bundle, plan, written)]


def export_schedd(targets: CommandTargets) -> list[str]:
    """Return the lines for the configuration of schedds: submit requirements, transforms, and what they leave out.

    :raises BundleError: the bundle has errors.
    """
    bundle = load(targets)
    plan = ReusePlan.of(bundle)
    of_jobs = [each for each in plan.rules if _is_of_job(each)]
    of_matches = [each for each in plan.rules if each.condition is not None and each.kind is RuleKind.MATCH]
    lines = [
        *_head(bundle, "schedds"),
        *_comment(
            "Jobs that the bundle denies on every slot are refused when they are submitted, with the reason. condor_qedit can change a job "
            "afterwards, so this is never enough alone: the Requirements below, the startds or the negotiator test it again."
        ),
    ]
    numbered = list(enumerate(_conditions([*of_jobs, *of_matches]), 1))
    in_transforms = [each for each in numbered if "$" not in unparse(each[1][1])]
    for number, (each, condition) in numbered[: len(of_jobs)]:
        name = f"SUBMIT_REQUIREMENT_{_NAME}{number}"
        lines += [
            *_rule(each),
            f"SUBMIT_REQUIREMENT_NAMES = $(SUBMIT_REQUIREMENT_NAMES) {_NAME}{number}",
            # Schedds read these two, other than any other expression of the configuration, in the new syntax.
            f"{name} = {_escaped(unparse(condition))}",
            f"{name}_REASON = {_escaped(unparse(Literal(printable(each.reason))))}",
        ]
    if in_transforms:
        text = "The same and the match expressions in the Requirements of each job (MY is the job, TARGET the slot), when it is submitted."
        lines += ["", *_comment(text)]
    for number, (each, condition) in in_transforms:
        lines += [
            *_rule(each),
            f"JOB_TRANSFORM_NAMES = $(JOB_TRANSFORM_NAMES) {_NAME}{number}",
            f"JOB_TRANSFORM_{_NAME}{number} @=end",
            f"   SET Requirements ($(MY.Requirements)) && ({_value(swapped(condition))})",
            "@end",
        ]
    return [*lines, *_left_out(bundle, plan, [*of_jobs, *(each for _, (each, _) in in_transforms)])]


def _is_of_job(rule: ReuseRule) -> bool:
    return rule.condition is not None and AdKind.JOB in rule.kinds


def _conditions(rules: Iterable[ReuseRule]) -> Iterator[tuple[ReuseRule, Expr]]:
    for each in rules:
        if each.condition is not None:
            yield each, each.condition


def _of_start(rule: ReuseRule, condition: Expr) -> Expr:
    """Return the condition of a rule for START.

    It must not be false where no job is asked about: the slot would be its owner's. A part of a partitionable slot is tested with what
    the whole slot has, for it has less than the slot that was matched.
    """
    if rule.reads_divided:
        condition = of_whole_slot(condition)
    if AdKind.STARTD in rule.kinds:
        return condition
    no_job = Binary("=?=", Attr("ClusterId", AdRef(Side.TARGET)), Literal(UNDEFINED))
    return Binary("||", Paren(no_job), Paren(condition))


def _head(bundle: Bundle, daemons: str) -> list[str]:
    place = printable(str(bundle.folder))
    command = f"negotiator export {daemons.removesuffix('s')}"
    return [
        *_comment(f"The bundle {place} (digest {bundle.digest[:12]}) for {daemons}, written by {command}."),
        "",
    ]


def _rule(rule: ReuseRule) -> list[str]:
    place = f" ({rule.source})" if rule.source else ""
    return _comment(f"{rule.name}{place}: {rule.reason}")


def _comment(text: str) -> list[str]:
    """Return a comment of one line; a backslash at its end would make the next line a part of it."""
    line = printable(" ".join(text.split()))
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    return [f"# {line}." if line.endswith("\\") else f"# {line}"]


def _value(expression: Expr) -> str:
    """Return an expression as the value of a macro."""
    return _escaped(unparse_old(expression))


def _escaped(text: str) -> str:
    """Return a text for the value of a macro: a dollar sign would begin the name of another one."""
    return text.replace("$", "$(DOLLAR)")


def _left_out(bundle: Bundle, plan: ReusePlan, written: list[ReuseRule]) -> Iterator[str]:
    """Yield comments on what only the negotiator keeps."""
    yield ""
    yield from _comment("Not written here, since only the negotiator can keep it:")
    for each in plan.rules:
        if each not in written:
            place = f" ({each.source})" if each.source else ""
            why = each.obstacle or (
                "its text has a dollar sign, which a transform would replace"
                if each.kind is RuleKind.MATCH
                else "it tests slots, which startds do: negotiator export startd"
            )
            yield from _comment(f"{each.name}{place}: {why}")
    yield from _comment(
        f"shares and preemption of order: {bundle.ordering.name}; queues, their access control lists and placement"
    )
