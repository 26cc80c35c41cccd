"""The user that a question of a command or request is about."""

import pytest

from negotiator.app.access import access_report
from negotiator.app.subject import resolve_subject
from negotiator.bundle import load_bundle
from negotiator.errors import InvalidCallError


@pytest.fixture
def bundle(tmp_path):
    (tmp_path / "pool.yaml").write_text("{}\n")
    return load_bundle(tmp_path)


def test_a_question_about_no_user_is_an_invalid_call(bundle):
    """On the command line as over the network."""
    with pytest.raises(InvalidCallError, match="missing user"):
        resolve_subject(bundle, "", ("dev",), 0.0)
    with pytest.raises(InvalidCallError, match="missing user"):
        access_report(bundle, "", (), (), 0.0)


def test_the_name_of_a_group_must_be_printable(bundle):
    """Names of groups are recorded."""
    with pytest.raises(InvalidCallError, match="invalid name of a group"):
        resolve_subject(bundle, "sue", ("a\nb",), 0.0)
