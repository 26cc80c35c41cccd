"""The accounting names of jobs: whose priority and quota a job uses, and whether its owner may use them.

A job's AccountingGroup is text of its owner. A group is free, as in HTCondor; the name of another user is not.
Source: HTCondor manual, Accounting Groups; the key ``accounting`` of the bundle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import attrs
import numpy as np

from negotiator.bundle.model import AccountingSettings
from negotiator.classad import Table
from negotiator.classad.syntax import fold
from negotiator.cycle.jobs import Strings, made_of, submitters, texts
from negotiator.cycle.reasons import core_reason
from negotiator.hooks.records import Mask
from negotiator.records import Mode, Reason, Station, Verdict

#: Parts of a name, separated by dots, that are compared with users: a user's own name may have some.
_PARTS = 8
_RULE = "accounting"


def owner_names(jobs: Table) -> Strings:
    """Return the submitter name that each job's owner has without accounting group, in lower case; (N,)."""
    return made_of([texts(jobs, "Owner"), texts(jobs, "User")], _owner_name)


def users_of(jobs: Table) -> frozenset[str]:
    """Return the names of all owners of jobs, without domain, in lower case."""
    return frozenset(name.partition("@")[0] for name in set(owner_names(jobs).tolist())) - {""}


def named_user(name: str, own: str, users: AbstractSet[str]) -> str:
    """Return the other user that an accounting name belongs to; empty for a group, and for the owner's own names.

    A name with a domain is always a user's. Without one it is a user's if it, or what follows one of its dots, is the name
    of a known user.

    :param name: the accounting name, in lower case.
    :param own: the submitter name of the owner, in lower case.
    :param users: the known users, without domain, in lower case.
    """
    local, at, domain = name.rpartition("@") if "@" in name else (name, "", "")
    own_local, _, own_domain = own.partition("@")
    user = next((each for each in _endings(local) if each == own_local or each in users), "")
    if user == own_local and (not at or not own_domain or domain == own_domain):
        return ""
    return f"{user or local}{at}{domain}" if user or at else ""


def not_permitted(
    jobs: Table, settings: AccountingSettings, users: AbstractSet[str]
) -> Iterator[tuple[Mask, Reason]]:
    """Yield the jobs that use another user's name, with the reason; it enforces unless the bundle permits the name.

    :param users: the names of the pool's users, without domain, in lower case.
    """
    permitted = PermittedNames.of(settings)
    verdicts = made_of(
        [texts(jobs, "AccountingGroup"), texts(jobs, "Owner"), texts(jobs, "User")],
        lambda group, owner, user: permitted.verdict(fold(group), _owner_name(owner, user), users),
    )
    for verdict in sorted({*verdicts.tolist()} - {""}):
        mode = Mode.ENFORCE if verdict == "accounting_name_refused" else Mode.WARN
        text = _TEXTS[verdict]
        reason = core_reason(Station.ADMIT, Verdict.DENIED, verdict, text, _RULE)
        yield np.asarray(verdicts == verdict, np.bool_), attrs.evolve(reason, mode=mode)


_TEXTS: Mapping[str, str] = {
    "accounting_name_refused": "AccountingGroup names another user, which accounting: names: does not permit to the owner",
    "accounting_name_mapped": "AccountingGroup names another user, as accounting: names: permits",
    "accounting_name_trusted": "AccountingGroup names another user, as accounting: trust_names: permits",
}


@attrs.frozen
class PermittedNames:
    """The names that each owner may use, in lower case, and whether all owners are trusted."""

    trust: bool
    names: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, settings: AccountingSettings) -> PermittedNames:
        """Return the names of the bundle."""
        names = {fold(owner): frozenset(map(fold, each)) for owner, each in settings.names.items()}
        return cls(settings.trust_names, names)

    def verdict(self, name: str, own: str, users: AbstractSet[str]) -> str:
        """Return the code of the reason for a job with this accounting name and owner; empty if there is none."""
        if not name:
            return ""
        user = named_user(name, own, users)
        if not user:
            return ""
        if self.trust:
            return "accounting_name_trusted"
        wanted = {name, user, user.partition("@")[0], "*"}
        keys = (own, own.partition("@")[0], "*")
        mapped = any(wanted & self.names.get(key, frozenset()) for key in keys)
        return "accounting_name_mapped" if mapped else "accounting_name_refused"


def under_other_names(jobs: Table) -> Mask:
    """Return the jobs whose submitter name is not their owner's own, (N,)."""
    own = owner_names(jobs)
    return np.asarray((submitters(jobs) != own) & (own != ""), np.bool_)


def _owner_name(owner: str, user: str) -> str:
    """Return the owner at the domain of the job's user, as far as the ad has them, in lower case."""
    _, at, domain = user.rpartition("@")
    name = owner or user
    return fold(name if "@" in name or not at else f"{name}@{domain}")


def _endings(name: str) -> Iterator[str]:
    """Yield a name, and what follows each of its last dots; the longest first."""
    parts = name.rsplit(".", _PARTS)
    for start in range(len(parts)):
        yield ".".join(parts[start:])
