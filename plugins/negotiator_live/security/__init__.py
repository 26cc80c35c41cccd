"""Security sessions with HTCondor's daemons: authentication, encryption, resumption."""
