"""``negotiator fmt`` as a command."""

import pytest
from click.testing import CliRunner

from negotiator.cli import main

MESSY = "policies:\n- name:  slow   # why\n  applies_to: match\n  expression: MY.a>1\n"
CLEAN = "policies:\n  - name: slow    # why\n    applies_to: match\n    expression: MY.a > 1\n"


@pytest.fixture
def site(tmp_path):
    (tmp_path / "pool.yaml").write_text(MESSY)
    (tmp_path / "pool.yaml").chmod(0o640)
    return tmp_path


def fmt(*words):
    return CliRunner().invoke(main, ["fmt", *map(str, words)])


def test_files_are_written_in_the_style_with_their_modes(site):
    done = fmt(site)
    assert (done.exit_code, (site / "pool.yaml").read_text()) == (0, CLEAN)
    assert (site / "pool.yaml").stat().st_mode & 0o777 == 0o640
    assert done.stdout == f"changed: {site}/pool.yaml\n"
    assert done.stderr == "1 file changed, 0 unchanged\n"
    again = fmt(site)
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "0 files changed, 1 unchanged\n")


def test_check_writes_nothing_and_fails_unless_all_files_are_in_the_style(site):
    done = fmt(site, "--check")
    assert (done.exit_code, done.stdout) == (1, f"would be changed: {site}/pool.yaml\n")
    assert (site / "pool.yaml").read_text() == MESSY
    (site / "pool.yaml").write_text(CLEAN)
    assert fmt(site, "--check").exit_code == 0


def test_diff_prints_the_changed_lines_and_writes_nothing(site):
    done = fmt(site, "--diff")
    assert done.exit_code == 0
    assert "-  expression: MY.a>1\n" in done.stdout
    assert "+    expression: MY.a > 1\n" in done.stdout
    assert (site / "pool.yaml").read_text() == MESSY


def test_a_file_with_an_error_is_named_and_stays_as_it_is(site):
    (site / "pool.yaml").write_text("policies:\n- nam:  slow\n")
    done = fmt(site)
    assert done.exit_code == 1
    assert f"{site}/pool.yaml:2:3: error: " in done.stderr
    assert "1 left alone" in done.stderr
    assert (site / "pool.yaml").read_text() == "policies:\n- nam:  slow\n"
