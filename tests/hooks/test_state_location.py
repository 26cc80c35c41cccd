"""The URL of a database is shown without its passwords, and an invalid one is not shown at all."""

import pytest

from negotiator.hooks.state_location import DatabaseUrl, InvalidDatabaseUrlError


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgres://boss@h:5433/d", "postgresql://boss@h:5433/d"),
        ("postgresql://boss:s3cret@h1,h2:5433/d", "postgresql://boss:***@h1,h2:5433/d"),
        ("postgresql://boss:s3cret@/d?host=/run/pg", "postgresql://boss:***@/d?host=/run/pg"),
        ("postgresql:///d?password=s3cret&user=boss", "postgresql:///d?password=***&user=boss"),
        (
            "postgresql://h/d?sslmode=verify-full&sslPassword=s3cret",
            "postgresql://h/d?sslmode=verify-full&sslPassword=***",
        ),
        ("postgresql://:s3cret@h", "postgresql://:***@h"),
    ],
)
def test_a_url_is_shown_without_its_passwords(url, shown):
    made = DatabaseUrl(url)
    assert str(made) == f"{made}" == shown
    assert "s3cret" not in repr(made)
    assert made.secret == url
    assert made.has_password == ("s3cret" in url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mysql://h/d",
        "host=h password=s3cret",
        "postgresql:/boss:s3cret@h/d",
        "postgresql://boss:s3/cret@h/d",
        "postgresql://boss:s3@cret@h/d",
        "postgresql://boss:s3cret@h/d#more",
        "postgresql://boss:s3 cret@h/d",
    ],
)
def test_an_invalid_url_is_not_in_the_message(url):
    """Its parts cannot be told apart, so each may be a password."""
    with pytest.raises(
        InvalidDatabaseUrlError, match="expected postgresql://USER@HOST:PORT/DATABASE"
    ) as found:
        DatabaseUrl(url)
    assert "cret" not in str(found.value)


def test_the_messages_of_a_database_are_shown_without_the_passwords():
    url = DatabaseUrl("postgresql://boss:p%40ss@h/d?sslpassword=other")
    assert url.redacted("wrong p@ss (p%40ss) or other for boss") == "wrong *** (***) or *** for boss"
