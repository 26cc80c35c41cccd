"""Read values of HTCondor's knobs from their texts, collecting all problems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from negotiator.plugin import Problem, ScalarText, Severity, Source, boolean_setting, real_setting


class KnobReader:
    """Texts of knobs, and the problems found while they are read.

    :param knobs: texts by name, macros replaced. Names are compared without regard to case; an empty text is not set.
    :param sources: the places of further knobs, by name.
    """

    def __init__(
        self, knobs: Mapping[str, ScalarText], sources: Mapping[str, Source] = MappingProxyType({})
    ) -> None:
        self._texts = {name.lower(): (name, knob.text.strip()) for name, knob in knobs.items()}
        places = {name: knob.source for name, knob in knobs.items()}
        self._sources = {name.lower(): source for name, source in {**sources, **places}.items()}
        self.problems: list[Problem] = []

    def names(self) -> Iterator[str]:
        """Yield the names of all knobs that are set."""
        return (name for name, text in self._texts.values() if text)

    def text(self, name: str) -> str:
        """Return the text of a knob; empty if it is not set."""
        return self._texts.get(name.lower(), ("", ""))[1]

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return the value of a knob that is true or false; the default if it is not set, or with an error invalid."""
        text = self.text(name)
        try:
            return boolean_setting(text) if text else default
        except ValueError as error:
            self.error(name, f"{name} must be true or false: {text}", f"the value {error}")
        return default

    def number(self, name: str, default: float, *, least: float, most: float = math.inf) -> float:
        """Return the value of a knob that is a number; the default if it is not set, or with an error invalid."""
        text, hint = self.text(name), ""
        try:
            value = real_setting(text) if text else default
            if least <= value <= most:
                return value
        except ValueError as error:
            hint = f"the value {error}"
        limits = f"from {least:g} to {most:g}" if math.isfinite(most) else f"of at least {least:g}"
        self.error(name, f"{name} must be a number {limits}: {text}", hint)
        return default

    def source(self, name: str) -> Source | None:
        """Return the place of a knob; None if it is not set."""
        return self._sources.get(name.lower())

    def error(self, name: str, message: str, hint: str = "") -> None:
        """Report an invalid knob."""
        self._report(Severity.ERROR, name, message, hint)

    def warn(self, name: str, message: str, hint: str = "") -> None:
        """Report a knob that is not used as written."""
        self._report(Severity.WARNING, name, message, hint)

    def _report(self, severity: Severity, name: str, message: str, hint: str) -> None:
        source = self._sources.get(name.lower(), Source(""))
        self.problems.append(Problem(severity, source, message, hint))
