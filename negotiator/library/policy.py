"""A policy bundle for Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.app.check import check_bundle
from negotiator.app.phrases import number
from negotiator.app.targets import bundle_folder, examine, loaded
from negotiator.app.why.text_tables import WhyTable, WhyText
from negotiator.bundle import Bundle
from negotiator.errors import BundleError, InvalidCallError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.library.printed import Printed
from negotiator.queues import QueueTree
from negotiator.records import Problem

if TYPE_CHECKING:
    from negotiator.library.pool import Pool


def load_bundle(
    folder: str | PathLike[str] | None = None,
    *,
    plugins: Iterable[object] | Mapping[str, object] = (),
) -> Policy:
    """Return the policies in the folder of a bundle; without a folder those of the default bundle.

    Plugins that the bundle names are imported, and their code runs: load only bundles that you trust.

    :param plugins: further plugins: objects or modules with functions that ``negotiator.plugin.hookimpl`` marks. They are checked
        as all others are, and called in the bundle's order. A mapping gives them names; else a plugin has that of its attribute
        ``name``, or of its class in lower case with hyphens (``MyPolicy``: ``my-policy``), or the last part of its module's name.
    :raises BundleError: the bundle has errors, or a plugin is refused; the message and ``problems`` have all of them.
    :raises InvalidCallError: two plugins have one name.

    >>> import negotiator as n
    >>> policy = n.load_bundle("policies/minimum-machine")
    >>> policy.queues
    ('root', 'root.default')
    >>> from negotiator.plugin import Score, hookimpl
    >>> class FewGpusFirst:
    ...     @hookimpl
    ...     def negotiator_score_slots(self, slots):
    ...         yield Score("few-gpus-first", -slots.numbers("GPUs", default=0))
    >>> [name for name in n.load_bundle(plugins=[FewGpusFirst()]).plugins if "gpus" in name]
    ['few-gpus-first 0']
    >>> n.load_bundle("policies/no-such-folder")
    Traceback (most recent call last):
    negotiator.errors.BundleError: policies/no-such-folder: error: ...
    """
    targets, given = CommandTargets(bundle=None if folder is None else Path(folder)), named_plugins(plugins)
    try:
        return Policy(loaded(examine(targets, extra_plugins=given), bundle_folder(targets)), given)
    except BundleError as error:
        raise BundleError(_located(error.problems, error.folder), error.folder) from None


def named_plugins(plugins: Iterable[object] | Mapping[str, object]) -> Mapping[str, object]:
    """Return plugins by name, as ``load_bundle`` names them.

    :raises InvalidCallError: two have one name.
    """
    if isinstance(plugins, Mapping):
        return MappingProxyType(dict(plugins))
    found: dict[str, object] = {}
    for each in plugins:
        name = _name_of(each)
        if name in found:
            raise InvalidCallError(
                f"two plugins are called {name}: give them names, as in plugins={{'{name}': ..., '{name}-2': ...}}"
            )
        found[name] = each
    return MappingProxyType(found)


def _name_of(plugin: object) -> str:
    own = getattr(plugin, "name", None)
    if isinstance(own, str):
        return own
    if isinstance(plugin, ModuleType):
        return plugin.__name__.rpartition(".")[2]
    kind = plugin if isinstance(plugin, type) else type(plugin)
    return _WORDS.sub("-", kind.__name__.strip("_")).lower()


#: Between the words of the name of a class: ``MyPolicy``, ``GPUScores``.
_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


@attrs.frozen(eq=False, repr=False)
class Policy(Printed):
    """A policy bundle that was loaded and has no errors: expressions, queues, quotas, plugins and knobs of one folder.

    ``bundle`` is what the program itself works with; its interface may change.

    >>> import negotiator as n
    >>> policy = n.load_bundle()
    >>> len(policy.digest), policy.problems
    (64, ())
    >>> [plugin.partition(" ")[0] for plugin in policy.plugins][:3]
    ['access', 'condor', 'expressions']
    """

    bundle: Bundle = attrs.field(repr=False)
    given: Mapping[str, object] = attrs.field(factory=dict, repr=False)
    """The plugins that were given as objects, by name."""

    @property
    def folder(self) -> Path:
        """The folder of the bundle."""
        return self.bundle.folder

    @property
    def digest(self) -> str:
        """The SHA-256 of its files, in hexadecimal, as audit records have it."""
        return self.bundle.digest

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The warnings and notices of loading it, each with file, line and a hint."""
        return _located(self.bundle.problems, self.folder)

    @property
    def plugins(self) -> tuple[str, ...]:
        """The name and version of each plugin, in the order in which they are called."""
        return self.bundle.hooks.plugin_set

    @property
    def queues(self) -> tuple[str, ...]:
        """The paths of the configured queues."""
        return tuple(queue.path for queue in QueueTree.of(self.bundle.partition.root, 0.0))

    def check(self, pool: Pool | None = None) -> tuple[Problem, ...]:
        """Return all that ``negotiator check`` finds in the folder as it is now; with a pool, also against its ads.

        ``str()`` of a problem has file, line, column and a hint; ``severity`` is ``error``, ``warning`` or ``notice``.
        """
        targets = CommandTargets(bundle=self.folder)
        snapshot = None if pool is None else pool.snapshot
        found = check_bundle(targets, snapshot, extra_plugins=self.given).problems
        return _located(found, self.folder)

    def _text(self) -> WhyText:
        problems = tuple((str(each),) for each in self.problems)
        return WhyText.of(
            [
                f"Policies in {self.folder}, sha256 {self.digest[:12]}",
                f"Queues: {_some(self.queues)}",
                f"Plugins: {', '.join(self.plugins)}",
            ],
            [WhyTable(number(len(problems), "problem"), ("PROBLEM",), problems, noun="problem")],
        )


def _located(problems: Iterable[Problem], folder: Path | None) -> tuple[Problem, ...]:
    """Return problems whose places are paths, for people who see no folder beside the message."""
    return tuple(
        attrs.evolve(each, source=attrs.evolve(each.source, file=str((folder or Path()) / each.source.file)))
        for each in problems
    )


def _some(names: tuple[str, ...], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
