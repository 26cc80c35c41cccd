"""The image of the Containerfile: built by buildah, and run as a user without rights."""

import re
import shutil
from pathlib import Path

import pytest

from container_image import ContainersUnavailableError, containers

ROOT = Path(__file__).parents[1]
FILE = ROOT / "Containerfile"
BASE = re.search(r"^ARG PYTHON=(\S+)", FILE.read_text(), re.MULTILINE)[1]
#: Prints what is in the environment of the image, and what nothing else in it requires.
ROOTS = """
import re, importlib.metadata as m
name = lambda text: re.split(r"[^\\w.-]", text)[0].lower().replace("_", "-")
required = {name(each) for found in m.distributions() for each in found.requires or ()}
print(*sorted({name(found.name) for found in m.distributions()} - required))
"""


@pytest.fixture
def storage(tmp_path):
    """Return a storage of images and containers; the test is skipped, with the reason, where there can be none."""
    try:
        with containers(tmp_path / "containers") as opened:
            yield opened
    except ContainersUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def image(storage):
    """Return a container of the image, and one of its base image; the test is skipped if there is no base or registry."""
    try:
        base = storage.base(BASE)
        return storage.build(ROOT, FILE, base), storage.checked("from", base)
    except ContainersUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of the checkout in which files lie that are no sources."""
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "dist", "var"))
    shutil.copy(ROOT / ".dockerignore", copy)
    for name in (
        *(".env", "pool_password", "site/secret.key", "var/audit/log", ".git/config", ".venv/pyvenv.cfg"),
        *(".mypy_cache/a", "dist/a.whl", "negotiator/__pycache__/a.pyc", "plugins/a/b/__pycache__/a.pyc"),
    ):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("a secret")
    return copy


def test_only_sources_reach_the_builder(storage, checkout, tmp_path):
    file = tmp_path / "Containerfile"
    file.write_text("FROM scratch\nCOPY . .\n")
    files = storage.files(storage.build(checkout, file))
    assert {"pyproject.toml", "requirements/run.txt", "negotiator/__main__.py"} <= files
    assert {name.partition("/")[0] for name in files} == {
        *("LICENSE", "README.md", "examples", "hatch_build.py", "negotiator", "plugins", "pool_negotiator"),
        *("pyproject.toml", "requirements"),
    }
    assert not [name for name in files if "__pycache__" in name]


def test_the_image_runs_cycles_without_rights_and_has_only_the_program(storage, image):
    built, base = image
    added = storage.files(built) - storage.files(base)
    assert {"/".join(name.split("/")[:2]) for name in added} == {"opt/negotiator"}
    assert storage.inside(built, "python", "-c", ROOTS).stdout.strip() == "pool-negotiator"

    assert storage.inside(built, "id", "-u").stdout.strip() == "64201"
    assert storage.start(built, "--version").stdout.startswith("negotiator, version ")
    assert storage.start(built, "init", "--example", "pool").returncode == 0
    cycle = storage.start(built, "run", "--audit-log", "var/audit", "pool")
    assert cycle.returncode == 0
    assert cycle.stdout.startswith("Cycle 1 over 33 slots, 9 idle jobs: 7 matched")
    assert storage.start(built, "audit", "verify", "var/audit").returncode == 0


def test_the_user_of_the_image_is_a_number_that_is_not_root():
    user = re.search(r"^USER (\d+):(\d+)$", FILE.read_text(), re.MULTILINE)
    assert user
    assert "0" not in user.groups()
