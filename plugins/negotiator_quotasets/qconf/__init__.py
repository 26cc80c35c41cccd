"""``negotiator qconf``: resource quota sets shown, added, changed and deleted, as Grid Engine's command does it.

Source: qconf(1), ``-arqs`` to ``-drqs`` and ``-aattr`` to ``-Rattr``; "Resource Quota Sets", command line.
"""

from negotiator_quotasets.qconf.command import qconf as qconf
