"""The table of exit codes and HTTP statuses has an entry for every exception of the program."""

import importlib
import pkgutil
from http import HTTPStatus

import pytest

import negotiator
from negotiator.app.status import STATUSES, status_of
from negotiator.audit.errors import AuditBusyError, AuditError
from negotiator.errors import BundleError, InvalidCallError, NegotiatorError, NotFoundError, PoolError
from negotiator.exit_codes import ExitCode
from negotiator.runtime.run import OutcomeLostError


def subclasses(error):
    """All classes of the program that derive from an exception."""
    for each in error.__subclasses__():
        yield each
        yield from subclasses(each)


@pytest.fixture(scope="module")
def errors():
    """Every exception of the program, once all of its modules are imported."""
    for module in pkgutil.walk_packages(negotiator.__path__, "negotiator."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {each for each in subclasses(NegotiatorError) if each.__module__.startswith("negotiator.")}


def test_every_exception_has_an_entry_by_inheritance(errors):
    bases = {each: {f"{base.__module__}.{base.__qualname__}" for base in each.__mro__} for each in errors}
    assert sorted(each.__qualname__ for each, names in bases.items() if not names & STATUSES.keys()) == []


def test_each_entry_is_the_class_of_an_exception(errors):
    assert sorted(STATUSES.keys() - {f"{each.__module__}.{each.__qualname__}" for each in errors}) == []


def test_the_most_specific_entry_applies():
    assert status_of(OutcomeLostError("")).exit_code is ExitCode.OUTCOME
    assert status_of(AuditBusyError("")).exit_code is ExitCode.AUDIT
    assert status_of(AuditError("")).http is HTTPStatus.SERVICE_UNAVAILABLE
    assert status_of(NotFoundError("")).http is HTTPStatus.NOT_FOUND
    assert status_of(InvalidCallError("")).exit_code is ExitCode.INVALID_CALL
    assert status_of(BundleError(())).http is HTTPStatus.UNPROCESSABLE_ENTITY
    assert status_of(PoolError("")).exit_code is ExitCode.POOL


def test_an_exception_of_a_plugin_means_that_nothing_was_done():
    class OwnError(NegotiatorError):
        """An exception that a plugin defines."""

    status = status_of(OwnError(""))
    assert (status.exit_code, status.http) == (ExitCode.NOT_DONE, HTTPStatus.INTERNAL_SERVER_ERROR)


def test_each_exit_code_has_one_meaning():
    meanings = [code.meaning for code in ExitCode]
    assert len(set(meanings)) == len(meanings)
    assert all(meanings)
