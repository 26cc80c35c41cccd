"""Use case: an administrator acts on an application, reloads the bundle, or changes what an order remembers."""

from __future__ import annotations

import time

import attrs

from negotiator.app.targets import bundle_folder, examine, loaded
from negotiator.audit.errors import AuditError
from negotiator.bundle import Bundle
from negotiator.errors import NotFoundError
from negotiator.hooks.administration import Caller
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Problem
from negotiator.runtime.admin_requests import AdminEnvironment, submit
from negotiator.runtime.state import AdminAction as AdminAction
from negotiator.runtime.state import AdminAnswer as AdminAnswer
from negotiator.runtime.state import AdminRequest, StateStore

_POLL = 0.2  # seconds between two looks for an answer


def pending_text(wait: float) -> str:
    """Return the sentence for a request that was not answered within ``wait`` seconds."""
    return (
        f"no answer within {wait:g} s: the negotiator of this state is in a cycle, or none is running. "
        "The request stays in the state, and is carried out before the next cycle."
    )


@attrs.frozen
class AdminOutcome:
    """The negotiator's answer, None if it did not answer in time; ``problems`` are those of the bundle, if it was loaded.

    ``number`` is that of the request in the state.
    """

    number: int
    answer: AdminAnswer | None
    problems: tuple[Problem, ...] = ()


@attrs.define
class _BundleLoader:
    """Loads the bundle at most once, and remembers its problems."""

    targets: CommandTargets
    problems: tuple[Problem, ...] = ()

    def __call__(self) -> Bundle:
        bundle = loaded(examine(self.targets), bundle_folder(self.targets))
        self.problems = bundle.problems
        return bundle


def administer(
    targets: CommandTargets,
    caller: Caller,
    action: AdminAction,
    application: str = "",
    queue: str = "",
    note: str = "",
    wait: float = 30.0,
    order: str = "",
    change: str = "",
    *,
    make_state: bool = False,
) -> AdminOutcome:
    """Write a request to the state and wait for the answer; carry it out here if no negotiator is running.

    :param application: ``schedd#cluster``, or the cluster alone.
    :param wait: seconds to wait for a running negotiator, which answers between two cycles.
    :param change: the text of a change of the rows of ``order``.
    :param make_state: make the state if the folder has none.
    :raises StateError: the folder has no state, or it cannot be read or written.
    :raises BundleError: the bundle has errors (only if no negotiator is running).
    :raises AuditError: the action could not be recorded (only if no negotiator is running); nothing was done.
    """
    load = _BundleLoader(targets)
    environment = AdminEnvironment(load, targets.audit_log, targets.key_file)
    request = AdminRequest(
        0, time.time(), caller.name, caller.groups, action, application, queue, note, order, change
    )  # the store gives it a number
    state = targets.required_state
    if not make_state:
        StateStore.require(state)
    try:
        with StateStore.open(state) as store:
            number = submit(store, request, environment)
            answer = _answer(store, number, wait)
    except AuditError as error:
        raise type(error)(f"{error}: nothing was done") from error
    return AdminOutcome(number, answer, load.problems)


def wait_for_answer(targets: CommandTargets, request: int, wait: float) -> AdminAnswer | None:
    """Wait for the answer to a request that is in the state already; None if it does not come in time.

    :raises StateError: the state cannot be read.
    """
    with StateStore.open(targets.required_state) as store:
        return _answer(store, request, wait)


def find_answer(targets: CommandTargets, request: int) -> AdminAnswer | None:
    """Return the answer to a request; None if it waits for one.

    :raises NotFoundError: there is no such request, or its answer was deleted since.
    :raises StateError: the folder has no state, or it cannot be read.
    """
    with StateStore.read(targets.required_state) as store:
        # In this order: a request may be answered meanwhile.
        waits = any(each.number == request for each in store.waiting())
        answer = store.answered(request)
    if answer is None and not waits:
        raise NotFoundError(f"unknown request {request}: the latest 1,000 answers are stored")
    return answer


def _answer(store: StateStore, number: int, wait: float) -> AdminAnswer | None:
    end = time.monotonic() + wait
    while (answer := store.answered(number)) is None and time.monotonic() < end:
        time.sleep(_POLL)
    return answer
