"""What ``negotiator qconf`` does: shows, adds, changes and deletes resource quota sets, as Grid Engine's qconf does.

Source: qconf(1), ``-arqs`` to ``-drqs`` and ``-aattr`` to ``-Rattr``; "Resource Quota Sets", command line.
"""
