"""Use case: what an order remembers from cycle to cycle, such as accounts, is shown and changed."""

from __future__ import annotations

from negotiator.app.administer import administer, pending_text
from negotiator.defaults import MAX_NOTE
from negotiator.errors import InvalidCallError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.administration import Caller, RowsOutcome, StoredRows
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.state import AdminAction, StateStore

_MAX_CHANGE = 100_000_000  # characters


def read_rows(targets: CommandTargets, order: str) -> StoredRows:
    """Return the rows that an order remembers.

    :raises StateError: the folder has no state, or it cannot be read.
    """
    with StateStore.read(targets.required_state) as store:
        return StoredRows(*store.order_rows(order))


def change_rows(
    targets: CommandTargets,
    caller: Caller,
    order: str,
    change: str,
    note: str,
    wait: float,
    *,
    make_state: bool,
) -> RowsOutcome:
    """Request a change of the rows of an order, and wait for the answer.

    Parameters, result and errors are those of ``CommandContext.change_order``.
    """
    for name, text, most in (("note", note, MAX_NOTE), ("change", change, _MAX_CHANGE)):
        if len(text) > most:
            raise InvalidCallError(f"the {name} has {len(text)} characters: at most {most} are allowed")
    done = administer(
        *(targets, caller, AdminAction.CHANGE_ORDER),
        note=note,
        wait=wait,
        order=order,
        change=change,
        make_state=make_state,
    )
    if done.answer is None:
        return RowsOutcome(None, pending_text(wait), ExitCode.PENDING, done.problems)
    code = ExitCode.DONE if done.answer.ok else ExitCode.NOT_DONE
    return RowsOutcome(done.answer.ok, done.answer.text, code, done.problems)
