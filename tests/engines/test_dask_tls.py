"""A Dask cluster with TLS, set up as the documentation says: who has no certificate of its CA is refused, with what to do."""

import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import attrs
import dask
import distributed  # noqa: F401 - has the settings of its own that tests change
import pytest
from click.testing import CliRunner

from dask_cluster import dask_cluster
from debian import ProgramMissingError, program
from negotiator.cli import main
from processes import LongProgram

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs" / "engines.md").read_text().partition("\n## TLS\n")[2].partition("\n## ")[0]
CERTIFICATES, COMMANDS = re.findall(r"^```console\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
(CONFIGURATION,) = re.findall(r"^```yaml\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
SCHEDULER, WORKER, REPLAY = [line.removeprefix("$ ") for line in COMMANDS.splitlines()]
ROLES = ("scheduler", "worker", "client")
FIRST_POOL = ROOT / "examples" / "first-pool"
TIME = 60.0


@attrs.define
class TlsCluster:
    """The folders of the roles, which have what the machine of that role has, and the address of the scheduler."""

    folder: Path
    address: str
    programs: list

    @property
    def recorded(self):
        """The folder of a recorded cycle over the example pool."""
        return self.folder / "recorded"

    def environment(self, role):
        """Return the environment of a program in a role."""
        return {"DASK_CONFIG": str(self.folder / role), "NEGOTIATOR_CONFIG": ""}

    def command(self, line, address):
        """Return a documented command with this address, as it runs here."""
        words = shlex.split(
            line.replace("cm.example.org:8786", address).replace("--nworkers 8", "--nworkers 1")
        )
        return [Path(sys.executable).with_name(words[0]), *words[1:]]

    def error(self, address, settings):
        """Return the one line that a replay ends with, under these settings of Dask."""
        with dask.config.set(settings):
            words = ("replay", str(self.recorded), "--engine", f"dask:{address}")
            done = CliRunner().invoke(main, words, env=self.environment("client"))
        assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.output
        return done.stderr

    def secrets(self):
        """Return the lines of all keys and certificates."""
        files = [each for each in self.folder.rglob("*") if each.suffix in {".key", ".pem"}]
        return {
            line for each in files for line in each.read_text().splitlines() if not line.startswith("-----")
        }


def certificates(folder):
    """Run the documented commands in a folder."""
    folder.mkdir()
    text = re.sub(r"^[$>] ", "", CERTIFICATES, flags=re.MULTILINE)
    subprocess.run(["bash", "-ec", text], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return a cluster of one worker, as the documentation starts it."""
    try:
        program("openssl", "openssl")
    except ProgramMissingError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("tls")
    certificates(folder / "ca")
    for role in ROLES:
        (folder / role).mkdir()
        (folder / role / "dask.yaml").write_text(CONFIGURATION.replace("/etc/dask", str(folder / role)))
        for name in ("ca.pem", f"{role}.pem", f"{role}.key"):
            shutil.copy(folder / "ca" / name, folder / role)
    made = TlsCluster(folder, "", [])
    with ExitStack() as stack:

        def start(line, role, address):
            command = made.command(line, address)
            made.programs.append(stack.enter_context(LongProgram(command, folder, **made.environment(role))))
            return made.programs[-1]

        made.address = start(SCHEDULER, "scheduler", "127.0.0.1:0").wait_for(r"Scheduler at: +(tls://\S+)")[1]
        start(WORKER, "worker", made.address.removeprefix("tls://")).wait_for("Registered to")
        words = ("run", "--no-audit", "--record", str(made.recorded), str(FIRST_POOL))
        assert CliRunner().invoke(main, words, env={"NEGOTIATOR_CONFIG": ""}).exit_code == 0
        yield made


def test_the_documented_command_prints_on_the_cluster_what_it_prints_here(cluster):
    command = [*cluster.command(REPLAY, cluster.address.removeprefix("tls://")), "--json"]
    assert command[-2].startswith("dask:tls://")
    command[command.index("/var/lib/negotiator/recorded")] = str(cluster.recorded)
    done = [
        subprocess.run(
            [*command[:-2], engine, "--json"],
            env=os.environ | cluster.environment("client"),
            cwd=cluster.folder,
            capture_output=True,
            check=True,
            timeout=TIME,
        )
        for engine in (command[-2], "local")
    ]
    assert done[0].stdout == done[1].stdout
    assert b'"matches": 7' in done[0].stdout


@pytest.fixture(scope="module")
def client(cluster):
    """Return the settings of a client as the documentation has them."""
    comm = dask.config.collect([str(cluster.folder / "client")], env={})["distributed"]["comm"]
    tls = comm.pop("tls")
    roles = {f"tls.{role}.{name}": value for role in ROLES for name, value in tls.pop(role).items()}
    named = comm | roles | {f"tls.{name}": value for name, value in tls.items()}
    return {f"distributed.comm.{name}": value for name, value in named.items()}


@pytest.fixture(scope="module")
def foreign(cluster):
    """Return a folder with the certificates of another CA, an expired one of the CA of the cluster, and a key with a passphrase."""
    folder = cluster.folder / "foreign"
    certificates(folder)
    ca = ("-CA", "../ca/ca.pem", "-CAkey", "../ca/ca.key", "-CAcreateserial")
    expired = ("openssl", "x509", "-req", "-in", "client.csr", *ca, "-days", "0", "-out", "expired.pem")
    subprocess.run(expired, cwd=folder, check=True, capture_output=True)
    closed = ("openssl", "pkey", "-in", "client.key", "-aes256", "-passout", "pass:x", "-out", "closed.key")
    subprocess.run(closed, cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"client.cert": None, "client.key": None}, "has no distributed.comm.tls.client.cert (docs/engines.md#tls)"),
        ({"client.cert": "missing.pem"}, "tls.client.cert in Dask's configuration cannot be read (missing.pem: No such file"),
        ({"client.key": "FOLDER/ca.key"}, "(key values mismatch): they have to be"),
        ({"client.cert": "FOLDER/client.pem", "client.key": "FOLDER/client.key"}, "distributed.comm.tls.client.cert has to be valid, and signed by the scheduler's CA"),
        ({"client.cert": "FOLDER/expired.pem", "client.key": "FOLDER/client.key"}, "distributed.comm.tls.client.cert has to be valid, and"),
        ({"ca-file": "FOLDER/ca.pem"}, "distributed.comm.tls.ca-file has to be the CA that signed it"),
        ({"client.key": "FOLDER/closed.key"}, "distributed.comm.tls.client.key has a passphrase"),
    ],
)  # fmt: skip
def test_a_client_without_a_certificate_of_the_ca_is_refused_with_what_to_do(
    cluster, client, foreign, settings, error
):
    made = {
        f"distributed.comm.tls.{name}": value and value.replace("FOLDER", str(foreign))
        for name, value in settings.items()
    }
    assert error in cluster.error(cluster.address, client | made)


def test_an_address_without_tls_is_refused_by_both_sides(cluster, client):
    plain = cluster.address.replace("tls", "tcp")
    error = cluster.error(plain, client)
    assert "distributed.comm.require-encryption, and this address has no TLS: write tls://" in error
    error = cluster.error(plain, {})
    assert "if it uses TLS, the address of the engine has to begin with tls://" in error


def test_the_scheduler_refuses_a_connection_without_a_certificate(cluster):
    context = ssl.create_default_context(cafile=cluster.folder / "ca" / "ca.pem")
    context.check_hostname = False
    host, port = cluster.address.removeprefix("tls://").split(":")
    with (
        socket.create_connection((host, int(port)), TIME) as plain,
        context.wrap_socket(plain) as encrypted,
        pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"),
    ):
        encrypted.recv(1)


def test_a_scheduler_without_tls_is_named(cluster, client):
    with dask_cluster(workers=0) as other:
        address = other.scheduler_address.replace("tcp", "tls")
        assert "does not use TLS: start it with tls://" in cluster.error(address, client)


def test_no_output_has_anything_of_a_key_or_certificate(cluster, foreign):
    text = (cluster.folder / "client" / "dask.yaml").read_text()
    (foreign / "dask.yaml").write_text(text.replace(str(cluster.folder / "client"), str(foreign)))
    words = ("replay", cluster.recorded, "--engine", f"dask:{cluster.address}")
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", *words],
        env=os.environ | {"DASK_CONFIG": str(foreign), "NEGOTIATOR_CONFIG": ""},
        cwd=foreign,
        capture_output=True,
        text=True,
        timeout=TIME,
        check=False,
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    output = "\n".join([done.stderr, *(line for each in cluster.programs for line in each.printed())])
    assert cluster.secrets()
    assert not [line for line in cluster.secrets() if line in output]
