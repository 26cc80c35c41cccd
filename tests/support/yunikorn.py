"""Conformance cases of queues, recorded from YuniKorn's own code: reading them, and what became of them.

A folder of cases has files ``*.yaml`` and ``*.yaml.gz`` of any names: a mapping with ``cases``, and perhaps ``area``,
which a case may say for itself. What cannot be read is named by file and place; nothing is raised for it.

``expect`` is what a case comes to; where its ``follow`` is ``seed``, ``expect_recommended`` or ``steps_recommended``.
``stage`` is not compared: here everything is checked before anything is active.
"""

from pathlib import Path

import attrs

from golden import UnreadableError, case_files, yaml_content
from yunikorn_areas import AREAS
from yunikorn_ugm import ugm

RUNNERS = {**AREAS, "ugm": ugm}
"""What runs the cases of each area."""

_ANSWERS = {"expect": "expect_recommended", "steps": "steps_recommended"}


@attrs.frozen
class Case:
    """One case; ``content`` has the answers that are to be followed."""

    id: str
    area: str
    content: dict


@attrs.define
class File:
    """The contents of a file: its cases, and the problems of unreadable ones."""

    name: str
    cases: list[Case] = attrs.field(factory=list)
    problems: list[str] = attrs.field(factory=list)


class Folder:
    """A folder of cases."""

    def __init__(self, path):
        self.path = Path(path)

    def files(self):
        """Return the sorted names of the files of cases."""
        return case_files(self.path, ".yaml")

    def read(self, name):
        """Return the cases of a file. Does not raise: errors are in ``problems``."""
        file = File(name)
        path = self.path / name
        try:
            content = _loaded(path)
        except UnreadableError as error:
            file.problems.append(f"{path}: {error}")
            return file
        for number, entry in enumerate(content["cases"], 1):
            try:
                file.cases.append(_case(entry, content.get("area")))
            except UnreadableError as error:
                file.problems.append(f"{path}: case {number}: {error}")
        return file


def _loaded(path):
    content = yaml_content(path)
    if not isinstance(content, dict) or not isinstance(content.get("cases"), list):
        raise UnreadableError("expected a mapping with a list of 'cases'")
    return content


def _case(content, area):
    if not isinstance(content, dict) or not isinstance(content.get("id"), str):
        raise UnreadableError("expected a mapping with a text as 'id'")
    name, area = content["id"], content.get("area", area)
    if area not in RUNNERS:
        raise UnreadableError(f"{name}: {area!r} is none of the areas {', '.join(RUNNERS)}")
    follow = content.get("follow")
    if follow not in {"both", "code", "seed"}:
        raise UnreadableError(f"{name}: 'follow' is to be both, code or seed, not {follow!r}")
    recommended = {own: content[key] for own, key in _ANSWERS.items() if key in content}
    if follow == "seed" and not recommended:
        raise UnreadableError(f"{name}: there is no {' or '.join(_ANSWERS.values())} to follow")
    return Case(name, area, {**content, **recommended} if follow == "seed" else content)


def verdict(file, not_passing):
    """Return the counts of verdicts of a file's cases, and a text for each failure."""
    counts = dict.fromkeys(("passed", "refused, word unknown here", "failed", "that cannot pass"), 0)
    failures, unread = list(file.problems), len(file.problems)
    for case in file.cases:
        try:
            became, differences = _judged(case)
        except UnreadableError as error:
            unread += 1
            failures.append(f"{file.name}: {case.id}: {error}")
            continue
        if case.id not in not_passing:
            counts[became] += 1
            failures += differences
        elif differences:
            counts["that cannot pass"] += 1
        else:
            counts[became] += 1
            failures.append(f"{case.id} passes: take it off the list of those that cannot")
    return {**counts, "could not be read": unread}, failures


def _judged(case):
    """Return the verdict of a case, and a text if it is not as expected."""
    try:
        findings = list(RUNNERS[case.area](case.content))
    except UnreadableError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the case is named
        return "failed", [f"{case.id}: {case.content.get('title', '')}\n    raised {error!r}"]
    wrong = [each for each in findings if each.got != each.expected]
    lines = [f"    {each.what}got {each.got}, expected {each.expected}" for each in wrong]
    if wrong:
        return "failed", ["\n".join([f"{case.id}: {case.content.get('title', '')}", *lines])]
    return "refused, word unknown here" if any(each.loose for each in findings) else "passed", []
