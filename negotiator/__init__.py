"""A matchmaker for compute pools whose every policy is a plugin.

>>> import negotiator as n
>>> result = n.run(n.read_pool("examples/first-pool"), n.load_bundle("policies/minimum-machine"))
>>> print(result.explain("14.0").reason.verdict)
denied

docs/python.md documents the names. Each is imported when it is used first.
"""

from typing import TYPE_CHECKING

from negotiator.lazy_names import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from negotiator.audit.errors import AuditError as AuditError
    from negotiator.errors import BundleError as BundleError
    from negotiator.errors import CommandError as CommandError
    from negotiator.errors import InvalidCallError as InvalidCallError
    from negotiator.errors import NegotiatorError as NegotiatorError
    from negotiator.errors import NotFoundError as NotFoundError
    from negotiator.errors import PoolError as PoolError
    from negotiator.errors import StateError as StateError
    from negotiator.ledger import LedgerError as LedgerError
    from negotiator.library.data_frames import MissingLibraryError as MissingLibraryError
    from negotiator.library.explanation import JobExplanation as JobExplanation
    from negotiator.library.ledger import AdmittedCopies as AdmittedCopies
    from negotiator.library.ledger import Ledger as Ledger
    from negotiator.library.policy import Policy as Policy
    from negotiator.library.policy import load_bundle as load_bundle
    from negotiator.library.pool import Pool as Pool
    from negotiator.library.pool import read_pool as read_pool
    from negotiator.library.records import DeniedJobs as DeniedJobs
    from negotiator.library.records import MatchedJob as MatchedJob
    from negotiator.library.records import SetAsideAds as SetAsideAds
    from negotiator.library.run import Result as Result
    from negotiator.library.run import run as run
    from negotiator.library.table import Table as Table
    from negotiator.records import Problem as Problem
    from negotiator.records import Reason as Reason
else:
    _MODULES = {
        "negotiator.audit.errors": "AuditError",
        "negotiator.errors": "BundleError CommandError InvalidCallError NegotiatorError NotFoundError PoolError StateError",
        "negotiator.ledger": "LedgerError",
        "negotiator.library.data_frames": "MissingLibraryError",
        "negotiator.library.explanation": "JobExplanation",
        "negotiator.library.ledger": "AdmittedCopies Ledger",
        "negotiator.library.policy": "Policy load_bundle",
        "negotiator.library.pool": "Pool read_pool",
        "negotiator.library.records": "DeniedJobs MatchedJob SetAsideAds",
        "negotiator.library.run": "Result run",
        "negotiator.library.table": "Table",
        "negotiator.records": "Problem Reason",
    }
    __all__ = ["__version__", *" ".join(_MODULES.values()).split()]  # noqa: PLE0604 - strings, from one table
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
