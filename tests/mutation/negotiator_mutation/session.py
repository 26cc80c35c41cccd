"""A pytest plugin that runs the tests of a room on each mutant of a plan.

The tests are collected once. For each mutant a forked process changes the functions concerned and runs the tests that
reach the changed lines, then the others, until one fails. Where a change takes effect when modules are imported, a new
process imports them.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from negotiator_mutation.coverage_map import CoverageMap, CoverageRecorder
from negotiator_mutation.plan import Outcome, Plan, PlannedMutant, Result
from negotiator_mutation.swap import changed_functions, functions_to_swap, swap

PLAN = "NEGOTIATOR_MUTATION_PLAN"
EXAMPLES = "NEGOTIATOR_MUTATION_EXAMPLES"
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "--examples=100")
MEMORY = 6 << 30  #: bytes of address space, for a change that makes a loop endless


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Prepare to run a plan, or, in a new process without one, tests that may meet an endless loop."""
    if PLAN not in os.environ:
        _limit_memory()
    else:
        plan = Plan.read(Path(os.environ[PLAN]))
        recorder = CoverageRecorder([Path(each) for each in plan.folders])
        config.pluginmanager.register(recorder)
        config.pluginmanager.register(MutantRunner(plan, recorder))


def pytest_collection() -> None:
    """Let hypothesis find the same examples each time, and not look for the smallest that fails."""
    phases = (Phase.explicit, Phase.generate)
    number = int(os.environ.get(EXAMPLES, "100"))
    settings.register_profile(
        "mutation", max_examples=number, deadline=None, phases=phases, derandomize=True, database=None
    )
    settings.load_profile("mutation")


class MutantRunner:
    """Runs the tests on each mutant."""

    def __init__(self, plan: Plan, recorder: CoverageRecorder) -> None:
        self._plan = plan
        self._recorder = recorder
        self._coverage = CoverageMap()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the unchanged tests, then all mutants."""
        self._recorder.stop()
        self._coverage = self._recorder.run(session.items)
        if self._coverage.failures:
            pytest.exit("\n".join(["tests fail without any change:", *self._coverage.failures]), returncode=1)
        sys.dont_write_bytecode = True  # of changed files
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        for mutant in self._plan.mutants:
            self._run(mutant, session.items).append(Path(self._plan.results))
        return True

    def _run(self, mutant: PlannedMutant, items: list[pytest.Item]) -> Result:
        seconds = self._coverage.seconds
        reaching = self._coverage.tests(mutant.path, mutant.lines)
        others = sorted(set(range(len(items))) - set(reaching), key=seconds.__getitem__)
        numbers = [
            each for each in (*reaching, *others) if seconds[each] <= (self._plan.longest or seconds[each])
        ]
        chosen = [items[each] for each in numbers]
        limit = 30 + 5 * sum(seconds[each] for each in numbers)
        path, before = Path(mutant.path), Path(mutant.path).read_text()
        codes = changed_functions(path, before, mutant.text)
        imported = self._coverage.is_imported(mutant.path, mutant.lines)
        functions = None if codes is None or imported else functions_to_swap(path, codes)
        with _changed(path, mutant.text):
            if codes is None or functions is None:
                failed = _fresh(chosen, limit)
            else:
                failed = _forked(lambda: swap(functions, codes), chosen, limit)
        return Result(Outcome.KILLED if failed else Outcome.SURVIVED, failed, len(reaching))


@contextmanager
def _changed(path: Path, text: str) -> Iterator[None]:
    """Change a file and restore it with its time, by which Python knows that its compiled form is valid."""
    before, found = path.read_text(), path.stat()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(before)
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _fresh(items: list[pytest.Item], limit: float) -> str:
    """Run tests in a new process; return what failed, empty if nothing."""
    environment = {name: value for name, value in os.environ.items() if name != PLAN}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(item.nodeid for item in items))
        listed.flush()
        command = [*PYTEST, "-p", __name__, f"@{listed.name}"]
        process = subprocess.Popen(  # noqa: S603 - pytest itself
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "time limit"
    if process.returncode == 0:
        return ""
    failed = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[-1].partition(" ")[2] if failed else f"exit status {process.returncode}"


def _forked(change: Callable[[], None], items: list[pytest.Item], limit: float) -> str:
    """Run tests in a forked process after a change; return what failed, empty if nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        _limit_memory()
        try:
            change()
            os.write(writer, _first_failure(items).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    status = _wait(child, limit)
    with os.fdopen(reader) as opened:
        told = opened.read()
    return told or ("time limit" if status is None else f"exit status {status}" if status else "")


def _first_failure(items: list[pytest.Item]) -> str:
    for item, following in zip(items, [*items[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            return item.nodeid
    return ""


def _wait(child: int, limit: float) -> int | None:
    """Return the status of a process, None if it had to be killed."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
