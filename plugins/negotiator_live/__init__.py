"""The negotiator of a live HTCondor pool: speaks to its daemons.

Source: HTCondor's CEDAR protocol (``src/condor_io``), verified against HTCondor 25.14.
"""
