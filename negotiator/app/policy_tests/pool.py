"""Makes the pool of a policy test from the values in its file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, repeat
from typing import Final

from negotiator.app.ad_values import AdValue, ad_value
from negotiator.app.policy_tests.file import AdValues, PolicyTest
from negotiator.classad import Ad, Table, parse
from negotiator.errors import SettingsError
from negotiator.pool import Snapshot
from negotiator.records import Problem, ScalarText, Severity
from negotiator.records.text import suggest

_SCHEDD: Final = "schedd.test"
_HOST: Final = "RemoteHost"
#: How many ads one of the file stands for, at most ``_MOST``, and the attributes that each has for itself.
_REPEAT: Final = "repeat"
_MOST: Final = 10_000
_UNIQUE: Final = frozenset({"name", "procid", "globaljobid"})


def pool_of(test: PolicyTest) -> Snapshot:
    """Return the ads of a test, with defaults for what they leave out.

    Jobs are numbered 1.0, 1.1, ... and so in each other cluster, idle ones first; owner and user are ``user``. Slots are ``slot1@host1``, ... Both
    accept everything. An ad with ``repeat: 5`` stands for five.

    :raises SettingsError: an expression is invalid, or a running job is on a slot that does not exist.
    """
    slots = [_slot(values, number) for number, values in enumerate(_repeated(test.slots or ()), 1)]
    numbers = defaultdict[str, Iterator[int]](count)
    jobs = [_job(values, numbers) for values in _repeated(test.jobs)]
    by_name = {str(slot["Name"]).lower(): slot for slot in slots}
    for values in test.running or ():
        job = _job(values, numbers)
        _claim(by_name, job, values.get(_HOST), test)
        jobs.append(job)
    return Snapshot(
        schedds=_table(map(_values, test.schedds or ())),
        submitters=_table(map(_values, test.submitters or ())),
        slots=_table(slots),
        jobs=_table(jobs),
    )


def _claim(
    slots: Mapping[str, dict[str, AdValue]],
    job: dict[str, AdValue],
    host: ScalarText | None,
    test: PolicyTest,
) -> None:
    """Let a job run on a slot."""
    slot = slots.get(host.text.lower()) if host is not None else None
    if slot is None:
        place = host or test.name
        message = "a running job needs the name of a slot of the test as RemoteHost"
        known = suggest(host.text if host else "", (str(each["Name"]) for each in slots.values()))
        raise SettingsError([Problem(Severity.ERROR, place.source, message, known)], place.source.file)
    slot.setdefault("CurrentRank", 0.0)
    slot |= {
        "State": "Claimed",
        "Activity": "Busy",
        "RemoteOwner": job["User"],
        "RemoteUser": job["User"],
        "JobId": f"{job['ClusterId']}.{job['ProcId']}",
        "GlobalJobId": job["GlobalJobId"],
    }
    job |= {"JobStatus": 2, "RemoteHost": slot["Name"]}


def _slot(values: AdValues, number: int) -> dict[str, AdValue]:
    own = _values(values)
    name = str(own.get("Name", f"slot1@host{number}"))
    machine = name.rpartition("@")[2]
    defaults: dict[str, AdValue] = {
        "Name": name,
        "Machine": machine,
        "State": "Unclaimed",
        "Activity": "Idle",
        "Requirements": parse("true"),
    }
    return defaults | {"Rank": 0.0, "Cpus": 1, "Memory": 1024, "Disk": 1024} | own


def _repeated(ads: Iterable[AdValues]) -> Iterator[AdValues]:
    """Yield each ad as often as it says; its names must then be left out."""
    for values in ads:
        number = values.get(_REPEAT)
        if number is None:
            yield values
            continue
        if not number.text.isdecimal() or not 1 <= int(number.text) <= _MOST:
            message, hint = (
                f"{_REPEAT}: invalid number {number.text[:40]!r}",
                f"write a number from 1 to {_MOST}",
            )
            raise SettingsError([Problem(Severity.ERROR, number.source, message, hint)], number.source.file)
        unique = [name for name in values if name.lower() in _UNIQUE]
        if unique:
            message = f"{unique[0]} is that of one ad, {_REPEAT} makes several"
            hint = f"leave out {unique[0]}: each then has its own"
            raise SettingsError([Problem(Severity.ERROR, number.source, message, hint)], number.source.file)
        yield from repeat(
            {name: value for name, value in values.items() if name != _REPEAT}, int(number.text)
        )


def _job(values: AdValues, numbers: Mapping[str, Iterator[int]]) -> dict[str, AdValue]:
    """Return a job; ``numbers`` are the next ones of each cluster."""
    own = _values(values)
    owner = str(own.get("Owner", "user"))
    cluster = own.get("ClusterId", 1)
    proc = own["ProcId"] if "ProcId" in own else next(numbers[str(cluster)])
    defaults: dict[str, AdValue] = {
        "ClusterId": cluster,
        "ProcId": proc,
        "JobStatus": 1,
        "Requirements": parse("true"),
    }
    defaults |= {"Owner": owner, "User": f"{owner}@test", "GlobalJobId": f"{_SCHEDD}#{cluster}.{proc}#1"}
    return defaults | {"RequestCpus": 1, "RequestMemory": 1} | own


def _values(values: AdValues) -> dict[str, AdValue]:
    return {name: ad_value(name, text) for name, text in values.items()}


def _table(ads: Iterable[Mapping[str, AdValue]]) -> Table:
    return Table.from_ads([Ad(list(each.items())) for each in ads])
