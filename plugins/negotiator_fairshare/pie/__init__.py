"""The pie: how the weight of a pool is divided among submitters, spin by spin.

Source: HTCondor manual, "User Priorities and Negotiation", and the behaviour of condor_negotiator 25.14.
"""
