"""Fair share: whose turn it is, as HTCondor's negotiator decides it.

``groups`` computes quotas and negotiation rounds of accounting groups.
"""
