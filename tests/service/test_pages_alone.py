"""``negotiator serve --pages``: a service that follows its pool, and its limits."""

import datetime as dt
import shutil
import signal
import socket
import ssl
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from negotiator.cli import main

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"
PAGES = ("/pool", "/pool/queues", "/pool/queues/root", "/pool/none")


@pytest.fixture
def site(tmp_path):
    shutil.copytree(POOL, tmp_path / "pool")
    return tmp_path


def until(found, *, tries=600):
    """Call a function until it returns something true, about ten times a second."""
    for _ in range(tries):
        if found():
            return
        signal.sigtimedwait([], 0.1)
    raise AssertionError("it did not come to be")


def nodes(client):
    return [each["nodeID"] for each in client.get("/ws/v1/partition/default/nodes").json()]


def test_a_changed_pool_is_read_again_and_a_broken_one_leaves_the_last(site, serving):
    command, client = serving("--pool", "pool", cwd=site)
    with command, client:
        before = nodes(client)
        (site / "pool" / "workers.ads").unlink()
        until(lambda: nodes(client) != before)
        after = nodes(client)
        assert 0 < len(after) < len(before)
        shutil.rmtree(site / "pool")

        def checks():
            return client.get("/ws/v1/scheduler/healthcheck").json()

        until(lambda: not checks()["Healthy"])
        assert nodes(client) == after
        (failed,) = (each for each in checks()["HealthChecks"] if not each["Succeeded"])
        assert failed["Name"] == "Pool"
        assert "pool" in failed["DiagnosisMessage"]


def test_sigterm_ends_the_service_without_an_error(site, serving):
    command, client = serving("--pool", "pool", cwd=site)
    with command, client:
        assert client.get("/ws/v1/clusters").status_code == 200
        command.signal(signal.SIGTERM)
        assert command.end() == 0


def test_static_files_are_served_beside_the_interface_but_nothing_outside_their_folder(site, serving):
    (site / "ui").mkdir()
    (site / "ui" / "index.html").write_text("<title>queues</title>")
    (site / "secret.txt").write_text("secret")
    (site / "ui" / "link.txt").symlink_to(site / "secret.txt")
    command, client = serving("--pool", "pool", "--set", "web_assets=ui", cwd=site)
    with command, client:
        assert "queues" in client.get("/").text
        assert "Pool now" in client.get("/pool").text
        assert client.get("/ws/v1/clusters").json()
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/link.txt"):
            assert "secret" not in client.get(path).text


def test_a_request_with_an_endless_head_is_cut_off(site, serving):
    command, client = serving("--pool", "pool", cwd=site)
    with command, client, socket.create_connection((client.base_url.host, client.base_url.port), 60) as raw:
        raw.sendall(b"GET /ws/v1/clusters HTTP/1.1\r\nHost: localhost\r\n")
        answer = b""
        try:
            for _ in range(200):
                raw.sendall(b"X-Filler: " + b"x" * 1000 + b"\r\n")
            while part := raw.recv(4096):
                answer += part
        except ConnectionError:
            pass
        assert not answer or b" 400 " in answer.splitlines()[0]
        assert client.get("/ws/v1/clusters").status_code == 200


def write_certificate(folder):
    """Write a certificate of 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(1))
        .not_valid_after(now + dt.timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def test_on_other_interfaces_every_request_needs_a_token_and_is_encrypted(site, serving):
    write_certificate(site)
    done = CliRunner().invoke(main, ["admin", "token", str(site / "tokens.yaml"), "--user", "ann"])
    assert done.exit_code == 0, done.output
    files = (
        "--set",
        "web_tokens=tokens.yaml",
        "--set",
        "web_certificate=cert.pem",
        "--set",
        "web_key=key.pem",
    )
    command, client = serving("--pool", "pool", "--set", "web_bind_host=0.0.0.0", *files, cwd=site)
    with command, client:
        address = f"https://127.0.0.1:{client.base_url.port}"
        trusted = ssl.create_default_context(cafile=site / "cert.pem")
        with httpx.Client(base_url=address, verify=trusted, timeout=60) as other:
            for path in ("/ws/v1/clusters", "/ws/v1/scheduler/healthcheck", "/ws/v1/config", *PAGES):
                assert other.get(path).status_code == 401
            headers = {"Authorization": f"Bearer {done.output.strip()}"}
            assert other.get("/ws/v1/clusters", headers=headers).status_code == 200
            assert other.get("/pool", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--pool", str(POOL), "--set", "web_bind_host=192.0.2.1"], 2, "needs tokens and a certificate"),
        ([], 2, "missing pool"),
        (
            ["--pool", str(POOL), "--set", "web_assets=none"],
            2,
            "web_assets: none: cannot be read: No such file",
        ),
        (["--pool", str(POOL), "--set", f"web_tokens={POOL}"], 2, "not a regular file"),
        (["--pool", str(POOL), "--bundle", "none"], 2, "bundle: none: cannot be read: No such file"),
        (["--pool", str(POOL), "--set", "web_bind_host=a b"], 2, "invalid host 'a b'"),
        (["--pool", str(POOL), "--set", "web_bind_port=-1"], 2, "-1 is not in the range"),
        (["--pool", str(POOL), "--port", "1"], 2, "No such option: --port; use --set web_bind_port=1"),
        (["--pool", str(POOL), "--tokens=a"], 2, "No such option: --tokens; use --set web_tokens=a"),
        (["--every", "5"], 2, "--every cannot be used with --pages"),
        (["--no-watch"], 2, "--no-watch cannot be used with --pages"),
        (["--set", "record=rec"], 2, "--set record=... cannot be used with --pages"),
        (["--set", "pool_driver=files"], 2, "--set pool_driver=... cannot be used with --pages"),
        (["--shadow"], 2, "--shadow cannot be used with --pages"),
        (["--cycles", "2"], 2, "--cycles cannot be used with --pages"),
        (["--json"], 2, "--json cannot be used with --pages"),
        (["--recover"], 2, "--recover cannot be used with --pages"),
        (["--change-bundle"], 2, "--change-bundle cannot be used with --pages"),
        (["--log-header", "x"], 2, "--log-header cannot be used with --pages"),
        (["--pool", str(POOL), "--set", f"web_certificate={__file__}"], 2, "a certificate needs its key"),
        (
            ["--pool", str(POOL), "--set", f"web_certificate={__file__}", "--set", f"web_key={__file__}"],
            1,
            "cannot use the certificate",
        ),
    ],
)
def test_a_service_that_cannot_start_says_why(arguments, code, message):
    done = CliRunner().invoke(main, ["serve", "--pages", *arguments])
    assert done.exit_code == code, done.output
    assert message in done.output


def test_settings_of_cycles_do_not_matter_to_the_pages(monkeypatch, tmp_path):
    """A file or a variable may have them for the service itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "negotiator.yaml").write_text("pool_driver: live\nevery: 60\nweb_certificate: none.pem\n")
    monkeypatch.setenv("NEGOTIATOR_CONFIG", "negotiator.yaml")
    monkeypatch.setenv("NEGOTIATOR_EVERY", "soon")
    monkeypatch.setenv("NEGOTIATOR_RECORD_DAYS", "few")
    done = CliRunner().invoke(main, ["serve", "--pages", "--pool", str(POOL)])
    assert (done.exit_code, "negotiator.yaml:3:1: error: web_certificate: " in done.stderr) == (2, True)
    assert "soon" not in done.output
    assert "few" not in done.output
    assert not (tmp_path / "var").exists()


def test_a_port_that_is_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(
            main, ["serve", "--pages", "--pool", str(POOL), "--set", f"web_bind_port={port}"]
        )
    assert done.exit_code == 1, done.output
    assert f"127.0.0.1:{port}: cannot listen: Address already in use" in done.output
