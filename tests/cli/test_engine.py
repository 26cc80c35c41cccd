"""``--engine`` of the commands that run cycles."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main

POOL = Path(__file__).parents[2] / "examples" / "first-pool"


def ran(*options):
    return CliRunner().invoke(
        main, ["run", str(POOL), "--no-audit", "--now", "1795200000", "--json", *options]
    )


def test_a_single_cycle_is_decided_here_whatever_the_engine_and_that_is_said():
    alone, other = ran(), ran("--engine", "processes:2")
    assert other.stdout == alone.stdout
    assert not alone.stderr
    assert "engine processes:2: this process decides cycles that follow each other by itself" in other.stderr


@pytest.mark.parametrize(
    "text", ["remote", "processes", "processes:0", "processes:x", "local:2", "processes:999999999999"]
)
def test_an_unknown_engine_is_refused_with_those_that_there_are(text):
    done = ran("--engine", text)
    assert done.exit_code == 2
    assert "processes:N" in done.output
    assert repr(text) in done.output
