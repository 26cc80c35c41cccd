"""The service over the example pool, as a process of its own."""

import shutil
from pathlib import Path

import httpx
import pytest

import debian
from lively_pool import write_lively_pool
from processes import LongCommand

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"


@pytest.fixture(scope="session")
def debian_program():
    """Return a function that finds a program of Debian packages; tests are skipped, with the reason, without it."""

    def find(name, *packages):
        try:
            return debian.program(name, *packages)
        except debian.ProgramMissingError as error:
            pytest.skip(str(error))

    return find


@pytest.fixture(scope="session")
def serving():
    """Return a function that starts the service and returns it with a client of it."""

    def start(*arguments, cwd):
        command = LongCommand("serve", "--pages", "--set", "web_bind_port=0", *arguments, cwd=cwd)
        try:
            address = command.wait_for(r"serving (\S+)/ws/v1/")[1]
        except BaseException:
            command.__exit__()
            raise
        return command, httpx.Client(base_url=address, timeout=60)

    return start


@pytest.fixture(scope="session")
def client(serving, tmp_path_factory):
    """A client of the service over the example pool and the bundle with limits."""
    folder = tmp_path_factory.mktemp("web")
    shutil.copytree(POOL, folder / "pool")
    shutil.copytree(ROOT / "policies" / "limits", folder / "bundle")
    command, client = serving("--bundle", "bundle", "--pool", "pool", cwd=folder)
    with command, client:
        yield client


@pytest.fixture(scope="session")
def lively(serving, tmp_path_factory):
    """A client of the service over a busy pool."""
    folder = tmp_path_factory.mktemp("lively")
    write_lively_pool(folder)
    command, client = serving("--bundle", "bundle", "--pool", "pool", cwd=folder)
    with command, client:
        yield client
