"""Files with secrets that other users may use are ignored, and named."""

import os

import pytest

from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.errors import AuthenticationError
from negotiator_live.security.secret_files import UnsafeFileError, read_secret
from negotiator_live.security.server.handshake import SecureServer
from negotiator_live.security.server.methods import Verifiers
from negotiator_live.security.server.signing_keys import SigningKeys
from negotiator_live.security.server.tokens import TokenVerifier
from negotiator_live.security.tokens import TokenFiles
from secret_file import write_secret
from secure_server import ADMINISTER, Rules, said, serving, signed_token, signing_key

OTHER_USER = 12_345


@pytest.fixture
def file(tmp_path):
    """Return a file with a token that is safe."""
    path = tmp_path / "token"
    write_secret(path, signed_token())
    return path


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o700])
def test_a_file_of_this_user_alone_is_read(file, mode):
    file.chmod(mode)
    assert read_secret(file, 1000) == signed_token().encode()
    assert TokenFiles((file.parent,)).find("example.org", ()).subject == "alice@example.org"
    assert TokenFiles((file,)).problems() == ()


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620, 0o602, 0o644, 0o601])
def test_a_file_that_others_may_use_is_ignored_and_named(file, mode):
    file.chmod(mode)
    with pytest.raises(UnsafeFileError):
        read_secret(file, 1000)
    files = TokenFiles((file.parent,))
    assert files.find("example.org", ()) is None
    expected = f"{file}: ignored, since other users may use it (mode {mode:04o}): chmod 600 {file}"
    assert files.problems() == (expected,)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
def test_a_file_of_another_user_is_ignored_and_named(file):
    os.chown(file, OTHER_USER, -1)
    files = TokenFiles((file,))
    assert files.find("example.org", ()) is None
    (problem,) = files.problems()
    assert problem.startswith(f"{file}: ignored, since it belongs to the user id {OTHER_USER}, not to root")
    assert problem.endswith(f": chown 0 {file}")


def test_a_file_that_is_too_long_is_an_error(file):
    with pytest.raises(OSError, match="more than 10 bytes"):
        read_secret(file, 10)


def test_the_error_of_a_failed_authentication_names_the_ignored_file(file):
    server = SecureServer(verifiers=Verifiers(tokens=TokenVerifier(SigningKeys(file.parent), "example.org")))
    signing_key(file.parent)
    client = SecureClient(credentials=Credentials.with_token_file(file))
    with serving(server, Rules("alice@example.org")) as served:
        assert said(client, served, ADMINISTER) == "hello"
        file.chmod(0o644)
        client.sessions.clear()
        with pytest.raises(AuthenticationError, match=f"mode 0644.: chmod 600 {file}"):
            said(client, served, ADMINISTER)
