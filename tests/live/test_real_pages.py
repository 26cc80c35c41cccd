"""The commands of the pages for administrators of HTCondor are run as they are written, one after the other, in a real pool."""

import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from condor_pool import PoolSettings, PoolUnavailableError, condor_pool, root_folder

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("negotiator-daemon")
PATIENCE = 60.0
PORT = 9618
#: A block of commands that cannot be run has the reason above it, which readers of the page do not see.
BLOCK = re.compile(
    r"(?P<mark><!-- not run: (?P<reason>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"`([^`\s]+)`:\n\n\Z")
SLOTS = """SLOT_TYPE_1 = cpus=1, memory=512, disk=1%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 4
"""
SUBMIT = """executable = /bin/sleep
arguments = 600
log = /dev/null
request_memory = 1
request_disk = 1024
queue 2
"""


def steps(page):
    """Yield what a reader does: (a file, its text), or ("", a command). Blocks that are not run are left out."""
    text = (ROOT / page).read_text("utf-8")
    for block in BLOCK.finditer(text):
        named = FILE.search(text[: block.start()])
        if block["mark"]:
            continue
        if block["language"] == "console":
            yield from (("", line[2:]) for line in block["body"].splitlines() if line.startswith("$ "))
        elif block["language"] == "sh":
            yield from (("", line) for line in block["body"].splitlines())
        elif named:
            yield named[1], block["body"]


@pytest.fixture(scope="module")
def pool():
    """Start a secure pool with two idle jobs, at HTCondor's port if that is free, in which this program is installed."""
    try:
        root_folder()
    except PoolUnavailableError as error:
        pytest.skip(str(error))
    folders = tuple(map(str, dict.fromkeys((ROOT, Path(sys.prefix), Path(sys.base_prefix)))))
    settings = PoolSettings("secure", more=SLOTS, folders=folders)
    with condor_pool(settings, PORT if is_free(PORT) else 0) as started:
        with (started.root / "etc" / "hosts").open("a") as hosts:
            hosts.write("127.0.0.1 cm.example.org\n")
        with (started.root / "etc" / "condor" / "condor_config").open("a") as configuration:
            configuration.write("LOCAL_CONFIG_DIR = /etc/condor/config.d\n")
        for each in (started.root / "etc" / "condor" / "config.d").iterdir():  # of the package
            each.unlink()
        (started.root / "usr" / "bin" / PROGRAM.name).symlink_to(PROGRAM)
        (started.root / "var" / "lib" / "negotiator").mkdir(parents=True)
        (started.root / "var" / "lib" / "negotiator" / "state").symlink_to("/pool/spool/negotiator")
        started.submit(SUBMIT)
        yield started


def is_free(port):
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


class Reader:
    """A user of a pool, in an empty folder or in one with what a checkout has, who does what a page says."""

    def __init__(self, pool, user, name, *, has_checkout=False):
        self.pool, self.user, self.folder = pool, user, f"/tmp/{name}"  # noqa: S108 - in the root folder
        place = self.inside(self.folder)
        place.mkdir()
        for each in ("examples/first-pool", "policies") if has_checkout else ():
            shutil.copytree(ROOT / each, place / each)
        if has_checkout:
            (place / ".venv").symlink_to(sys.prefix)
        pool.inside("run", "chown", "-R", f"{user}:", self.folder)

    def inside(self, path):
        """Return where a file of the root folder is."""
        return self.pool.root / path.lstrip("/")

    def does(self, file, text):
        """Write a file, or run a command; a service is stopped after its first cycle."""
        if file:
            place = self.inside(str(Path(self.folder, file)))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            self.pool.inside(
                "run",
                "chown",
                "-R",
                f"{self.user}:",
                str(Path("/", place.parent.relative_to(self.pool.root))),
            )
        elif "negotiator serve" in text:
            self.serves(text)
        else:
            self.runs(text)

    def runs(self, command):
        """Run a command, which must succeed; return what it prints."""
        return self.pool.inside(self.user, *self.words(command))

    def serves(self, command):
        """Run a service until its first cycle has taken place, and end it."""
        words = ["chroot", f"--userspec={self.user}:", str(self.pool.root), *self.words(f"exec {command}")]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
            lines, watchdog = [], threading.Timer(PATIENCE, process.kill)
            watchdog.start()
            for line in process.stderr:
                lines.append(line)
                if re.search(r"\bcycle\b.* number=", line):
                    process.send_signal(signal.SIGTERM)
            watchdog.cancel()
            assert process.wait(PATIENCE) == 0, (
                command + "".join(lines) + self.pool.log("CollectorLog")[-3000:]
            )
        printed = "".join(lines)
        assert re.search(r"number=\d+ slots=4 jobs=[12] ", printed), (command, printed)

    def words(self, command):
        port = self.pool.port
        own = "" if port == PORT else f"export _CONDOR_COLLECTOR_HOST=127.0.0.1:{port}; "
        settings = f"umask 022; export PATH={sys.prefix}/bin:$PATH; {own}cd {self.folder}; "
        return "sh", "-c", settings + self.addressed(command)

    def addressed(self, text):
        """Return a text with the pool's port where another program has HTCondor's."""
        return (
            text
            if self.pool.port == PORT
            else text.replace("cm.example.org", f"cm.example.org:{self.pool.port}")
        )


@pytest.mark.parametrize(
    ("page", "commands"), [("README.md", 8), ("docs/from-htcondor.md", 18)], ids=["readme", "from-htcondor"]
)
def test_the_commands_of_a_page_run_as_they_are_written(pool, page, commands):
    reader = Reader(pool, "tester", Path(page).stem, has_checkout=page == "README.md")
    done = list(steps(page))
    assert sum(not file for file, _ in done) >= commands
    for file, text in done:
        reader.does(file, text)


def test_the_commands_of_the_page_on_live_pools_run_as_they_are_written(pool):
    """The last of them are those of a pool whose condor_master has started this program."""
    reader, done = Reader(pool, "root", "live-pool"), list(steps("docs/live-pool.md"))
    reader.runs("negotiator init policies/site --from htcondor")
    assert sum(not file for file, _ in done) >= 10
    for file, text in done:
        if "negotiator status" in text:
            until(
                pool, lambda: pool.inside("run", "condor_status", "-negotiator", "-af", "Name", check=False)
            )
            until(pool, lambda: " cycle " in pool.log("NegotiatorLog"))
        reader.does(file, reader.addressed(text))
    assert "Bundle " in reader.runs("negotiator status --state /pool/spool/negotiator")


def until(pool, condition):
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, pool.log("NegotiatorLog")[-3000:] + pool.log("MasterLog")[-3000:]
        time.sleep(0.5)


@pytest.mark.parametrize("page", ["README.md", "docs/from-htcondor.md", "docs/live-pool.md"])
def test_few_blocks_of_commands_are_not_run(page):
    marked = [each["reason"] for each in BLOCK.finditer((ROOT / page).read_text("utf-8")) if each["mark"]]
    assert len(marked) <= 1
