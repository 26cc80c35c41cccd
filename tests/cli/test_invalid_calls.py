"""Invalid calls of commands about queues, and bundles with errors."""

import pytest

from commands import invoke
from negotiator.cli.commands.access import access
from negotiator.cli.commands.place import place
from negotiator.cli.commands.queues import queues
from queueing import write

WRONG = [
    (access, [], "missing user: use --user NAME"),
    (access, ["--user", "sue", "dev.web"], "'dev.web' is not the full path of a queue: use root.dev.web"),
    (access, ["--user", "sue", "root..web"], "invalid name of a queue, ''"),
    (place, [], "missing user: use --user NAME"),
    (place, ["--user", ""], "missing user: use --user NAME"),
    (place, ["--user", "a\nb"], "the name of a user must have at most 200 printable characters"),
    (place, ["--user", "sue", "--group", "dev", "--pool", "x"], "--pool places all jobs of a pool"),
    (place, ["--user", "sue", "--tag", "namespace"], "'namespace': write NAME=VALUE"),
    (queues, ["dev.web"], "'dev.web' is not the full path of a queue: use root.dev.web"),
]


@pytest.fixture
def bundle(tmp_path):
    return write(tmp_path / "bundle")


@pytest.mark.parametrize(("command", "arguments", "message"), WRONG)
def test_an_invalid_command_line_is_reported(bundle, command, arguments, message):
    """The message shows what to write instead."""
    result = invoke(command, ["--bundle", str(bundle), *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("command", "arguments"), [(access, ["--user", "sue"]), (place, ["--user", "sue"]), (queues, [])]
)
def test_a_bundle_with_errors_ends_the_command(bundle, command, arguments):
    """The place of the error is printed."""
    (bundle / "queues.yaml").write_text("partitions: 5\n")
    result = invoke(command, ["--bundle", str(bundle), *arguments])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "queues.yaml:1:13: error" in result.stderr
