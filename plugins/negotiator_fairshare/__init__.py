"""Fair share: whose turn it is, as HTCondor's negotiator decides it.

``accounts`` has the accounts of submitters and groups. ``groups`` computes quotas and negotiation rounds of accounting groups.
"""
