"""``negotiator whatif``: what a cycle would decide if something were changed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.bundle_edits import BundleEdits
from negotiator.app.diff import ComparisonTask, compare_pool
from negotiator.app.targets import bundle_folder, check_state
from negotiator.app.whatif import (
    PoolChanges,
    RowsAdded,
    RowsChanged,
    RowsEdit,
    RowsRemoved,
    Scenario,
    bundle_files,
    read_scenario,
)
from negotiator.classad import unparse
from negotiator.cli.comparison import ComparisonOptions, ComparisonOutput, described
from negotiator.cli.eval import read_expression
from negotiator.cli.loading import standard_input
from negotiator.hooks.command_targets import CommandTargets


@attrs.frozen(kw_only=True)
class ScenarioOptions:
    """The options that change something, as they are given."""

    changes: tuple[Path, ...]
    add_slots: tuple[tuple[int, str], ...]
    remove_slots: tuple[str, ...]
    set_slots: tuple[tuple[str, str], ...]
    add_jobs: tuple[tuple[int, str], ...]
    remove_jobs: tuple[str, ...]
    set_jobs: tuple[tuple[str, str], ...]
    factor: tuple[str, ...]
    files: tuple[str, ...]
    settings: tuple[str, ...]

    def scenario(self) -> Scenario:
        """Return what is changed: by files first, then by options.

        :raises click.UsageError: an option is invalid, or nothing is changed.
        """
        pool = PoolChanges(
            slots=_edits(self.add_slots, self.remove_slots, self.set_slots),
            jobs=_edits(self.add_jobs, self.remove_jobs, self.set_jobs),
            factors=tuple((name, _number(value)) for name, value in _pairs("--factor", self.factor)),
        )
        files = bundle_files({name: Path(path) for name, path in _pairs("--file", self.files)})
        given = Scenario(pool, BundleEdits(files, _pairs("--setting", self.settings)))
        found = sum(map(read_scenario, self.changes), Scenario()) + given
        if found.is_empty:
            raise click.UsageError(
                "nothing is changed: use --changes FILE, --add-slots, --set-jobs, --file, ..."
            )
        return found


def whatif(targets: CommandTargets, how: ComparisonOptions, **given: Any) -> None:
    """Compare what is decided as it is, and after changes."""
    scenario = ScenarioOptions(**given).scenario()
    own_bundles = bool(how.recorded) and targets.bundle is None
    if own_bundles:
        before, after = BundleChoice(targets), BundleChoice(targets, edits=scenario.bundle)
    else:
        named = attrs.evolve(targets, bundle=bundle_folder(targets))
        before = BundleChoice.of_folder(named)
        if not how.recorded:
            check_state(named, before.bundle())
        after = BundleChoice.of_folder(named, scenario.bundle)
    as_it_is = "the decisions in the recordings" if own_bundles else described(before)
    output = ComparisonOutput(
        before=as_it_is,
        after=f"{'their bundles' if own_bundles else described(after)}, {_described(scenario)}",
        how=how,
    )
    if how.recorded:
        was = None if own_bundles else before
        output.print_recorded(ComparisonTask(was, after, how.most_jobs, scenario.pool))
    else:
        found = compare_pool(targets, before, after, how.most_jobs, standard_input(), scenario.pool)
        sys.exit(output.print(found))


def _edits(
    added: Sequence[tuple[int, str]], removed: Sequence[str], changed: Sequence[tuple[str, str]]
) -> tuple[RowsEdit, ...]:
    """Return the changes of slots or jobs: removed first, so that what is added is like what is left, as it is changed."""
    removals = [RowsRemoved(read_expression(each)) for each in removed]
    changes = [
        RowsChanged(read_expression(where), ((name, read_expression(value)),))
        for where, text in changed
        for name, value in _pairs("--set-slots and --set-jobs", (text,))
    ]
    return *removals, *changes, *(RowsAdded(count, like) for count, like in added)


def _pairs(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    found = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()):
            raise click.UsageError(f"{option}: {text[:60]!r} has no NAME=VALUE")
        found.append((name.strip(), value.strip()))
    return tuple(found)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"--factor: {text[:40]!r} is not a number") from None


def _described(scenario: Scenario) -> str:
    """Return what is changed, in a line."""
    texts = [_edit_text("slots", each) for each in scenario.pool.slots]
    texts += [_edit_text("jobs", each) for each in scenario.pool.jobs]
    texts += [f"priority factor of {name}: {value:g}" for name, value in scenario.pool.factors]
    texts += [f"another {name}" for name, _ in scenario.bundle.files]
    texts += [f"{key}: {value}" for key, value in scenario.bundle.settings]
    return "; ".join(texts)


def _edit_text(noun: str, edit: RowsEdit) -> str:
    if isinstance(edit, RowsAdded):
        return f"{edit.count} more {noun} like {edit.like}"
    where = unparse(edit.where)
    if isinstance(edit, RowsRemoved):
        return f"no {noun} with {where}"
    return f"other {', '.join(name for name, _ in edit.values)} of {noun} with {where}"
