"""The limits of names and their modes, as a bundle configures them.

Source: HTCondor manual, "Concurrency Limits".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

import attrs

from negotiator.plugin import (
    DeclaredRule,
    Mode,
    Problem,
    QueueConfig,
    ScalarText,
    Severity,
    Source,
    real_setting,
    suggest,
)
from negotiator_condor.limit_parser import SCALE, LimitCompatibility, is_name

KEY = "concurrency_limit_modes"
#: All names without a mode of their own.
OTHERS = "*"
DEFAULT = "CONCURRENCY_LIMIT_DEFAULT"
_PREFIX, _SUFFIX = f"{DEFAULT}_", "_LIMIT"
#: The settings of HTCondor's configuration that limit single names: those of ``Section.knobs``.
PATTERNS = (f"{_PREFIX}*", f"*{_SUFFIX}")
#: Settings of other daemons.
_OTHERS = ("arc_gahp_command_limit", "detected_cpus_limit")
#: Larger limits, in millionths, are replaced by this one: it fits 64 bits.
_MOST = 2**62


def mode_of(modes: Mapping[str, Mode], name: str) -> Mode:
    """Return the mode of a name in lower case: its own, else that of its prefix, else that of all others."""
    before, dot, _ = name.partition(".")
    found = modes.get(name) or (modes.get(before) if dot else None)
    return found or modes.get(OTHERS, Mode.ENFORCE)


def mode_problems(
    written: Mapping[str, Mode], limited: Collection[str], sources: Mapping[str, Source]
) -> Iterator[Problem]:
    """Yield an error for each name that no limit has, or that is listed twice.

    :param limited: the names and prefixes that have a limit, in lower case.
    """
    seen: dict[str, str] = {}
    for name in written:
        source = sources.get(f"{KEY}.{name}") or Source("")
        if name != OTHERS and name.lower() not in limited:
            message = f"{KEY}: no concurrency limit is configured for {name[:80]}"
            hint = suggest(name, limited) or f"write {OTHERS!r} for all names without a limit of their own"
            yield Problem(Severity.ERROR, source, message, hint)
        first = seen.setdefault(name.lower(), name)
        if first != name:
            message = f"{KEY}: {first} and {name} are the same name"
            yield Problem(Severity.ERROR, source, message, "remove one of the two")


@attrs.frozen
class ConfiguredLimit:
    """A limit, in millionths, and the key that sets it, with its place; a limit of a ``prefix`` is that of names with it."""

    limit: int
    key: str
    source: Source
    prefix: str = ""


@attrs.frozen
class ConcurrencyLimits:
    """``concurrency_limits``: the limit of each name; any other name has ``CONCURRENCY_LIMIT_DEFAULT``.

    The limit of ``large`` is also that of each ``large.something`` without a limit of its own. ``knobs`` are HTCondor's own
    settings: ``LARGE_LIMIT`` is the limit of ``large`` alone, ``CONCURRENCY_LIMIT_DEFAULT_LARGE`` that of each
    ``large.something``. ``concurrency_limit_modes`` has the modes of some names; ``*`` is that of all others. ``sources`` has the place of each configured value by its path, such as
    ``concurrency_limits.large``.
    """

    concurrency_limits: dict[str, float] = attrs.field(factory=dict)
    CONCURRENCY_LIMIT_DEFAULT: float = 2_308_032  # HTCondor's default
    concurrency_limits_compatible: LimitCompatibility = LimitCompatibility.EXACT
    concurrency_limit_modes: dict[str, Mode] = attrs.field(factory=dict)
    knobs: Mapping[str, ScalarText] = attrs.field(factory=dict)
    source: Source | None = None
    sources: Mapping[str, Source] = attrs.field(factory=dict)

    def of(self, name: str) -> ConfiguredLimit:
        """Return the limit of a name in lower case: its own, else that of its prefix, else the default."""
        before, dot, _ = name.partition(".")
        found = self.own.get(name) or (self.prefixes.get(before) if dot else None)
        return found or self.default

    def mode(self, name: str) -> Mode:
        """Return the mode of a name in lower case; ``*`` is that of names without a limit of their own."""
        return mode_of(self._modes, name)

    @cached_property
    def _modes(self) -> Mapping[str, Mode]:
        return {name.lower(): mode for name, mode in self.concurrency_limit_modes.items()}

    @cached_property
    def default(self) -> ConfiguredLimit:
        """The limit of all other names."""
        return self._configured(self.CONCURRENCY_LIMIT_DEFAULT, DEFAULT)

    @cached_property
    def own(self) -> Mapping[str, ConfiguredLimit]:
        """The limits of names, by name in lower case."""
        knobs = {name.removesuffix(_SUFFIX.lower()): key for name, key in self._knobs(prefixes=False)}
        return self._written | {name: self._of_knob(key) for name, key in knobs.items()}

    @cached_property
    def prefixes(self) -> Mapping[str, ConfiguredLimit]:
        """The limits of names with a dot, by what is before it in lower case."""
        written = {name: each for name, each in self._written.items() if "." not in name}
        knobs = {name.removeprefix(_PREFIX.lower()): key for name, key in self._knobs(prefixes=True)}
        found = written | {name: self._of_knob(key) for name, key in knobs.items()}
        return {name: attrs.evolve(each, prefix=name) for name, each in found.items()}

    @cached_property
    def _written(self) -> dict[str, ConfiguredLimit]:
        """The limits of ``concurrency_limits``, by name in lower case."""
        return {
            name.lower(): self._configured(value, f"concurrency_limits.{name}")
            for name, value in self.concurrency_limits.items()
        }

    def place(self, key: str) -> Source:
        """Return the place of a key; that of the section if it is not configured."""
        knob = self.knobs.get(key)
        return (knob.source if knob else self.sources.get(key)) or self.source or Source("")

    def rules(self, root: QueueConfig) -> Iterator[DeclaredRule]:
        """Yield the configured limits as rules; a prefix without a limit of its own is named ``large.*``."""
        del root
        found = {f"{name}.*": each for name, each in self.prefixes.items() if each.key in self.knobs}
        if DEFAULT in self.sources or DEFAULT in self.knobs:
            found[OTHERS] = self.default
        for name, each in {**self.own, **found}.items():
            mode = self.mode(name.removesuffix(".*"))
            text = f"{each.limit / SCALE:g}"
            # A schedd uses a claim for jobs with the same limits, and leftovers of a slot for jobs without (CLAIM_RECYCLING_CONSIDER_LIMITS).
            yield DeclaredRule(
                rule=f"concurrency limit {name}",
                text=text,
                source=each.source,
                mode=mode,
                kept_by_schedds=True,
            )

    def problems(self) -> Iterator[Problem]:
        """Yield an error for each limit that no job can request, that is negative or not a number, or that is set twice."""
        for name, each in (*self.own.items(), *self.prefixes.items()):
            if not is_name(f"{name}.x" if each.prefix and each.key in self.knobs else name):
                hint = "write letters, digits and _, and at most one dot between two names"
                yield Problem(
                    Severity.ERROR, each.source, f"invalid name of a concurrency limit: {name}", hint
                )
            if each.limit < 0:
                yield Problem(Severity.ERROR, each.source, f"{each.key} must be a number of at least 0")
        if self.default.limit < 0:
            yield Problem(Severity.ERROR, self.default.source, f"{DEFAULT} must be a number of at least 0")
        for name, each in self._written.items():
            other = self.own[name] if self.own[name] != each else self.prefixes.get(name, each)
            if other.key != each.key:
                text = f"{other.key} and {each.key} limit the same names; neither takes precedence"
                yield Problem(Severity.ERROR, other.source, text, "remove one of the two")
        yield from mode_problems(self.concurrency_limit_modes, {*self.own, *self.prefixes}, self.sources)

    def _knobs(self, *, prefixes: bool) -> Iterator[tuple[str, str]]:
        """Yield the settings of prefixes, or those of names, each in lower case and as written."""
        for key in self.knobs:
            name = key.lower()
            if name not in _OTHERS and name.startswith(_PREFIX.lower()) is prefixes:
                yield name, key

    def _of_knob(self, key: str) -> ConfiguredLimit:
        return self._configured(_number(self.knobs[key].text), key)

    def _configured(self, value: float, key: str) -> ConfiguredLimit:
        return ConfiguredLimit(round(min(value * SCALE, _MOST)), key, self.place(key))


def _number(text: str) -> float:
    """Return the value of a setting, which may be a constant expression; -1 if it is not a number."""
    try:
        return real_setting(text)
    except ValueError:
        return -1
