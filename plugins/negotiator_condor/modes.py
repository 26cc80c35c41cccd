"""The modes of concurrency limits: ``concurrency_limit_modes``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from negotiator.plugin import Mode, Problem, Severity, Source, suggest

KEY = "concurrency_limit_modes"
#: All names without a mode of their own.
OTHERS = "*"


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
