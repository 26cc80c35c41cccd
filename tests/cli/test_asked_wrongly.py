"""What commands about queues answer to who asks in a wrong way, or about a bundle with errors."""

import pytest
from click.testing import CliRunner

from negotiator.cli.access import access
from negotiator.cli.place import place
from negotiator.cli.queues import queues
from queueing import write

WRONG = [
    (access, [], "say whom it is asked about: --user NAME"),
    (access, ["--user", "sue", "dev.web"], "'dev.web' is no path of a queue: say root.dev.web"),
    (access, ["--user", "sue", "root..web"], "''invalid queue name "),
    (place, [], "say whose application it is"),
    (place, ["--user", ""], "say whose application it is"),
    (place, ["--user", "a\nb"], "a user's name has up to 200 characters"),
    (place, ["--user", "sue", "--pool", "x"], "ask about the jobs of a pool, or about one user"),
    (place, ["--user", "sue", "--tag", "namespace"], "'namespace': write NAME=VALUE"),
    (queues, ["dev.web"], "'dev.web' is no path of a queue: say root.dev.web"),
]


@pytest.fixture
def bundle(tmp_path):
    return write(tmp_path / "bundle")


@pytest.mark.parametrize(("command", "arguments", "told"), WRONG)
def test_a_wrong_command_line_is_told(bundle, command, arguments, told):
    """With what to write instead."""
    result = CliRunner().invoke(command, ["--bundle", str(bundle), *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


@pytest.mark.parametrize(
    ("command", "arguments"), [(access, ["--user", "sue"]), (place, ["--user", "sue"]), (queues, [])]
)
def test_a_bundle_with_errors_is_not_asked(bundle, command, arguments):
    """The place of the error is told."""
    (bundle / "queues.yaml").write_text("partitions: 5\n")
    result = CliRunner().invoke(command, ["--bundle", str(bundle), *arguments])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "queues.yaml:1:13: error" in result.stderr
