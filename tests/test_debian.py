"""Programs of Debian packages that tests start: installed in CI, named elsewhere."""

import shutil

import pytest

import debian

#: In the place of apt-get: it installs the program ``server``.
APT = """#!/bin/sh
echo "$@" >> {folder}/log
[ "$1" = install ] && cp {true} {folder}/server
exit {code}
"""


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """Return a function that puts an apt-get with an exit code into the path; it returns its log."""

    def prepare(code=0):
        (tmp_path / "apt-get").write_text(APT.format(folder=tmp_path, true=shutil.which("true"), code=code))
        (tmp_path / "apt-get").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(debian, "_LOCK", tmp_path / "lock")
        return tmp_path / "log"

    return prepare


def test_ci_installs_a_missing_program_once(apt, tmp_path):
    log = apt()
    for _ in range(2):
        assert debian.program("server", "one", "two", environment={"CI": "true"}) == str(tmp_path / "server")
    assert log.read_text().splitlines() == [
        "update -qq",
        "install -y -qq --no-install-recommends one two",
    ]


def test_elsewhere_nothing_is_installed_and_the_packages_are_named(apt):
    log = apt()
    with pytest.raises(debian.ProgramMissingError, match="server is not installed: apt-get install one two"):
        debian.program("server", "one", "two", environment={})
    assert not log.exists()


def test_an_installation_that_fails_is_reported(apt):
    apt(100)
    with pytest.raises(debian.ProgramMissingError, match="apt-get update -qq: exit code 100"):
        debian.program("server", "one", environment={"CI": "true"})
