"""The rows of accounts in the negotiator's state: one JSON object a name, with the attributes of ``Accountantnew.log``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from negotiator_fairshare.accounts.account import AccountRecord
from negotiator_fairshare.accounts.attributes import canonical, numbers_of, record_of

MAX_NAME = 1_000  # characters
MAX_OTHERS = 100  # further attributes of one account
MAX_TEXT = 10_000  # characters of a further attribute

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


def to_row(name: str, record: AccountRecord) -> dict[str, object]:
    """Return the row of an account: its name, the attributes that differ from a new account's, and all others."""
    return {"Name": name, **numbers_of(record), **dict(sorted(record.others.items()))}


def from_row(row: Mapping[str, object]) -> tuple[str, AccountRecord]:
    """Return the name and the account of a row.

    :raises ValueError: the row is damaged; the message has the attribute.
    """
    if not isinstance(row, Mapping):
        raise ValueError("a row must be an object")  # noqa: TRY004 - the row is at fault, not the caller
    name = row.get("Name")
    check_name(name)
    numbers: dict[str, object] = {}
    others: dict[str, str] = {}
    for attribute, value in row.items():
        if attribute == "Name":
            continue
        if (known := canonical(attribute)) in numbers:
            raise ValueError(f"{known} is given twice")
        if known is not None:
            numbers[known] = value
        else:
            others[attribute] = checked_text(attribute, value)
    check_others(others)
    return str(name), record_of(numbers, others)


def check_name(name: object) -> None:
    """Check the name of an account.

    :raises ValueError: it is not a text of 1 to 1,000 printable characters.
    """
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise ValueError(f"the name of an account must have 1 to {MAX_NAME} printable characters")


def checked_text(attribute: str, value: object) -> str:
    """Return the text of an attribute without meaning here.

    :raises ValueError: its name is not that of an attribute, or the value is not a line of at most 10,000 characters.
    """
    if not _ATTRIBUTE.fullmatch(attribute):
        raise ValueError("the name of an attribute must be an identifier")
    if not isinstance(value, str) or not value or len(value) > MAX_TEXT or not value.isprintable():
        raise ValueError(f"{attribute} must be ClassAd text of at most {MAX_TEXT} printable characters")
    return value


def check_others(others: Mapping[str, str]) -> None:
    """Check the number of attributes without meaning here.

    :raises ValueError: there are more than 100.
    """
    if len(others) > MAX_OTHERS:
        raise ValueError(f"more than {MAX_OTHERS} further attributes")
