"""The command ``negotiator qconf``: show, add, change and delete resource quota sets, as Grid Engine's qconf does.

Source: qconf(1), ``-arqs`` to ``-drqs`` and ``-aattr`` to ``-Rattr``; "Resource Quota Sets", command line.
"""

from negotiator_quotasets.qconf.command import qconf as qconf
