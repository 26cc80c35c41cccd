"""The start by condor_master, as the pool's daemon NEGOTIATOR."""
