"""What ``negotiator qquota`` does: prints the usage of resource quota sets.

Source: qquota(1); "Resource Quota Sets", qquota.
"""

from negotiator_quotasets.qquota.report import as_entries as as_entries
