"""Runs one whole small production cycle from text."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

import attrs

from negotiator.bundle import default_bundle, load_bundle
from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Table
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import summarize
from negotiator.hooks.records import Cycle
from negotiator.hooks.reports import CycleSummary
from negotiator.pool.snapshot import Snapshot
from negotiator.testing.calls import from_path
from negotiator.testing.records import ads, cycle_record

_SLOT = 'Name = "slot{row}@host"\nMachine = "host"\nState = "Unclaimed"\nRequirements = true\nCpus = 1\nMemory = 1024\nDisk = 1024'
_JOB = 'ClusterId = 1\nProcId = {row}\nJobStatus = 1\nRequirements = true\nOwner = "alice"\nUser = "alice@example.org"'


def cycle(
    slots: str,
    jobs: str,
    bundle: str | Path | Mapping[str, str] | None = None,
    plugins: Iterable[object] | Mapping[str, object] = (),
    *,
    schedds: str = "",
    submitters: str = "",
    number: int = 1,
    now: float | None = None,
) -> CycleSummary:
    """Run one negotiation cycle over a small pool, as the program runs it, and return its result.

    All matches count as delivered: plugins that observe cycles are called with them, and ``failures`` has observers that failed.
    The installed plugins take part.

    :param slots: the ads of the slots, as ``ads`` reads them. What an ad leaves out of Name, Machine, State (Unclaimed),
        Requirements (true), Cpus (1), Memory and Disk (1024) is added.
    :param jobs: the ads of the jobs. What an ad leaves out of ClusterId (1), ProcId (counted from 0), JobStatus (1, idle),
        Requirements (true), Owner (alice) and User is added.
    :param bundle: a folder, or the texts of its files by name; the built-in bundle by default.
    :param plugins: the plugins under test beside those of the bundle: modules, objects, or paths of ``.py`` files or
        packages. A mapping gives them names; else a plugin is called after its file, module or class.
    :param number: the number of the cycle.
    :param now: the time of the cycle in seconds since the epoch; a fixed one by default.
    :raises BundleError: the bundle has errors, or a plugin is refused.
    """
    loaded = _load(bundle, _named(plugins))
    time = cycle_record().now if now is None else now
    snapshot = Snapshot(
        schedds=Table.from_ads(ads(schedds)),
        submitters=Table.from_ads(ads(submitters)),
        slots=Table.from_ads(_completed(slots, _SLOT)),
        jobs=Table.from_ads(_completed(jobs, _JOB)),
    )
    present = Cycle(number, time, loaded.digest)
    result = run_cycle(snapshot, loaded, present)
    found = summarize(result, result.matches, {})
    observers = loaded.hooks.observe(found, present, loaded.settings)
    return attrs.evolve(found, failures=(*found.failures, *observers))


def _load(bundle: str | Path | Mapping[str, str] | None, plugins: Mapping[str, object]) -> Bundle:
    if not isinstance(bundle, Mapping):
        return load_bundle(default_bundle() if bundle is None else Path(bundle), extra_plugins=plugins)
    with tempfile.TemporaryDirectory(prefix="negotiator-bundle-") as folder:
        for name, text in bundle.items():
            file = Path(folder) / name
            file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            file.chmod(0o644)
        return load_bundle(Path(folder), extra_plugins=plugins)


def _named(plugins: Iterable[object] | Mapping[str, object]) -> dict[str, object]:
    given = plugins.items() if isinstance(plugins, Mapping) else ((_name(each), each) for each in plugins)
    return {name: from_path(plugin) for name, plugin in given}


def _name(plugin: object) -> str:
    if isinstance(plugin, str | Path):
        return Path(plugin).stem
    return plugin.__name__.rpartition(".")[2] if isinstance(plugin, ModuleType) else type(plugin).__name__


def _completed(text: str, defaults: str) -> list[Ad]:
    """Return the ads of a text with defaults for the attributes that they leave out."""
    completed = []
    for row, ad in enumerate(ads(text)):
        (default,) = ads(defaults.format(row=row))
        own = {name.lower() for name, _ in ad.items()}
        missing = [(name, value) for name, value in default.items() if name.lower() not in own]
        completed.append(Ad([*ad.items(), *missing]))
    return completed
