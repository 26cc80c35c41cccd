"""A real PostgreSQL server for tests, made with initdb in a temporary folder; it listens at a socket in it alone."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

from debian import ProgramMissingError, program

NOBODY = "nobody"  # the server refuses to run as root
PATIENCE = 60.0


class PostgresqlServer:
    """A running server."""

    def __init__(self, folder):
        self.folder = folder
        self._schemas = count(1)

    def schema(self):
        """Make an empty schema, and return its name."""
        name = f"site{next(self._schemas)}"
        self.execute(f"CREATE SCHEMA {name}")
        return name

    def url(self, schema=None, host=None):
        """Return the URL of a schema, by default an empty one, at the server's socket or at another host and port."""
        name = schema or self.schema()
        at = "" if host is None else host
        more = {"host": self.folder} if host is None else {}
        more |= {"options": f"-csearch_path%3D{name}"}
        return f"postgresql://negotiator@{at}/postgres?" + "&".join(
            f"{key}={value}" for key, value in more.items()
        )

    def execute(self, statement):
        """Run a statement as the owner of the server; return its rows."""
        with psycopg.connect(
            host=str(self.folder), user="negotiator", dbname="postgres", autocommit=True
        ) as db:
            cursor = db.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @property
    def socket(self):
        """The path of its socket."""
        return str(self.folder / ".s.PGSQL.5432")


def programs():
    """Return the folder of the server's programs, of which Debian's package has none in the path.

    :raises ProgramMissingError: there is none.
    """
    return _found() or _installed()


def _installed():
    program("pg_ctlcluster", "postgresql")
    if (found := _found()) is None:
        raise ProgramMissingError("initdb is not installed: apt-get install postgresql")
    return found


def _found():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    path = shutil.which("initdb") or (found and found[-1])
    return Path(path).resolve().parent if path else None


@contextmanager
def running_server():
    """Run a server while the block runs.

    :raises ProgramMissingError: it is not installed.
    """
    bin_folder = programs()
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    user = {"user": NOBODY, "group": "nogroup"} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, NOBODY, "nogroup")
    try:
        make = ("--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "--username=negotiator")
        subprocess.run(  # noqa: S603 - the server's own programs
            [bin_folder / "initdb", *make, folder / "data"],
            cwd=folder,
            check=True,
            capture_output=True,
            **user,
        )
        settings = ("listen_addresses=", "fsync=off", "shared_buffers=16MB", "max_connections=50")
        command = [bin_folder / "postgres", "-D", folder / "data", "-k", folder]
        command += [word for setting in settings for word in ("-c", setting)]
        with (folder.parent / f"{folder.name}.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **user)  # noqa: S603
        try:
            folder.chmod(0o755)
            server = PostgresqlServer(folder)
            _wait(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait(PATIENCE)
    finally:
        shutil.rmtree(folder)
        (folder.parent / f"{folder.name}.log").unlink(missing_ok=True)


def _wait(server, process):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)
        else:
            return
