"""CEDAR, the protocol of HTCondor's daemons: packets, messages, ads and addresses."""
