"""``--engine`` of the commands that run cycles."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from negotiator.engines import ahead, processes

POOL = Path(__file__).parents[2] / "examples" / "first-pool"


def ran(*options):
    return CliRunner().invoke(
        main, ["run", str(POOL), "--no-audit", "--now", "1795200000", "--json", *options]
    )


def test_a_cycle_with_workers_prints_the_same(monkeypatch):
    begun = []
    start = processes.Fork.start
    monkeypatch.setattr(ahead, "LEAST_PAIRS", 0)
    monkeypatch.setattr(processes.Fork, "start", lambda *args: begun.append(args) or start(*args))
    alone = ran()
    assert not begun
    assert ran("--engine", "processes:2").output == alone.output
    assert len(begun) == 2


@pytest.mark.parametrize(
    "text", ["remote", "processes", "processes:0", "processes:x", "local:2", "processes:999999999999"]
)
def test_an_unknown_engine_is_refused_with_those_that_there_are(text):
    done = ran("--engine", text)
    assert done.exit_code == 2
    assert "processes:N" in done.output
    assert repr(text) in done.output
