"""The plugin's part of a bundle: the rule sets in ``*.rqs``, and the objects of ``gridengine.yaml``."""

from negotiator_quotasets.settings.quota_settings import FILES as FILES
from negotiator_quotasets.settings.quota_settings import GridEngine as GridEngine
from negotiator_quotasets.settings.quota_settings import QuotaSettings as QuotaSettings
from negotiator_quotasets.settings.quota_settings import SetsOfMode as SetsOfMode
from negotiator_quotasets.settings.quota_settings import check as check
from negotiator_quotasets.settings.quota_settings import superseding_line as superseding_line
