"""Which tests reach which lines, and how long each takes."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest
from _pytest.fixtures import FixtureDef
from _pytest.runner import runtestprotocol
from attrs import field, frozen

#: Number in place of a test's, of lines that run when modules are imported.
IMPORTED = -1


@frozen
class CoverageMap:
    """The numbers of the tests by file and line, and the duration of each test in seconds."""

    lines: dict[str, dict[int, set[int]]] = field(factory=dict)
    seconds: list[float] = field(factory=list)
    failures: list[str] = field(factory=list)

    def tests(self, path: str, lines: Sequence[int]) -> list[int]:
        """Return the tests that reach one of the lines, the quickest first."""
        return sorted(self._numbers(path, lines) - {IMPORTED}, key=self.seconds.__getitem__)

    def is_imported(self, path: str, lines: Sequence[int]) -> bool:
        """Return True if one of the lines runs when modules are imported."""
        return IMPORTED in self._numbers(path, lines)

    def _numbers(self, path: str, lines: Sequence[int]) -> set[int]:
        found = self.lines.get(path, {})
        return {number for line in lines for number in found.get(line, ())}


class CoverageRecorder:
    """Records the lines that each test reaches. It must start before the program is imported."""

    def __init__(self, folders: list[Path]) -> None:
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, source=[str(each) for each in folders]
        )
        self._context = ""  # of the test that runs; empty while none is recorded
        self._coverage.start()

    def stop(self) -> None:
        """End the recording of what is imported."""
        self._coverage.stop()

    def run(self, items: list[pytest.Item]) -> CoverageMap:
        """Run all tests once, in order."""
        self._coverage.start()
        seconds, failures = [], []
        for number, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True)):
            start = time.perf_counter()
            self._switch(str(number))
            reports = runtestprotocol(item, log=False, nextitem=following)
            seconds.append(time.perf_counter() - start)
            failures += [f"{item.nodeid}\n{report.longreprtext}" for report in reports if report.failed]
        self._context = ""
        self._coverage.stop()
        return CoverageMap(self._lines(items), seconds, failures)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: FixtureDef[Any]) -> Iterator[None]:
        """Attribute what a fixture of several tests does to all of them."""
        before = self._context
        if fixturedef.scope != "function" and before:
            self._switch(f"@{fixturedef.argname}")
        try:
            return (yield)
        finally:
            if before:
                self._switch(before)

    def _switch(self, context: str) -> None:
        self._context = context
        self._coverage.switch_context(context)

    def _lines(self, items: list[pytest.Item]) -> dict[str, dict[int, set[int]]]:
        data = self._coverage.get_data()
        numbers: dict[str, set[int]] = {"": {IMPORTED}}
        for number, item in enumerate(items):
            numbers[str(number)] = {number}
            for name in getattr(item, "fixturenames", ()):
                numbers.setdefault(f"@{name}", set()).add(number)
        return {
            path: {
                line: set().union(*(numbers.get(each, set()) for each in contexts))
                for line, contexts in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
