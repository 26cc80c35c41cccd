"""Export accounts as ``Accountantnew.log``, which condor_negotiator reads when it starts."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator_fairshare.accounts.account import AccountRecord, ResourceRecord
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.attributes import numbers_of


def log_text(accounts: Accounts, created: int) -> tuple[bytes, tuple[str, ...]]:
    """Return the log of accounts, UTF-8, and the names that it cannot contain: those with white space.

    :param created: the time of the file, in seconds since the epoch.
    """
    lines = [
        f"107 1 CreationTimestamp {created}",
        *_lines("Accountant.", {"LastUpdateTime": str(accounts.last_update)}),
    ]
    left_out = []
    for name, record in accounts.records.items():
        if fits(name):
            lines += _lines(f"Customer.{name}", _account(record))
        else:
            left_out.append(name)
    for key, resource in accounts.resources.items():
        if fits(key):
            lines += _lines(f"Resource.{key}", _resource(resource))
    return "".join(f"{line}\n" for line in lines).encode(), tuple(left_out)


def fits(name: str) -> bool:
    """Whether a name can be the key of an ad: the log separates its words by white space."""
    return bool(name) and name.isprintable() and not any(each.isspace() for each in name)


def number_text(value: float) -> str:
    """Return a number as the log has it: integers as such, all others with six decimals."""
    return str(value) if isinstance(value, int) else f"{value:.6f}"


def _lines(key: str, attributes: dict[str, str]) -> Iterator[str]:
    yield f"101 {key} * *"
    for name, text in attributes.items():
        yield f"103 {key} {name} {text}"


def _account(record: AccountRecord) -> dict[str, str]:
    return {name: number_text(value) for name, value in numbers_of(record).items()} | dict(record.others)


def _resource(record: ResourceRecord) -> dict[str, str]:
    texts = {"SlotWeight": f"{record.weight:.6f}", "StartTime": str(record.start_time)}
    if record.user:
        texts = {"RemoteUser": _quoted(record.user), **texts}
    if record.concurrency_limits:
        texts["MatchedConcurrencyLimits"] = _quoted(record.concurrency_limits)
    return texts | dict(record.others)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if each.isprintable() else "?" for each in escaped) + '"'
