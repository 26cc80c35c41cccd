"""The server's side of security sessions: who a peer is, and in which session it sends a command."""
