"""Policy bundles: one folder, read and checked as a whole, with a digest, as one object."""

from typing import TYPE_CHECKING

from negotiator.errors import BundleError as BundleError
from negotiator.lazy_names import lazy_names

if TYPE_CHECKING:
    from negotiator.bundle.load import BundleCheck as BundleCheck
    from negotiator.bundle.load import check_bundle as check_bundle
    from negotiator.bundle.load import default_bundle as default_bundle
    from negotiator.bundle.load import examine_bundle as examine_bundle
    from negotiator.bundle.load import load_bundle as load_bundle
    from negotiator.bundle.model import AuditSettings as AuditSettings
    from negotiator.bundle.model import Bundle as Bundle
    from negotiator.bundle.model import DecisionSelection as DecisionSelection
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator.bundle.load": "BundleCheck check_bundle default_bundle examine_bundle load_bundle",
            "negotiator.bundle.model": "AuditSettings Bundle DecisionSelection",
        },
    )
