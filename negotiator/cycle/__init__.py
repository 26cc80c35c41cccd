"""One negotiation cycle as a pure function, one file a station."""
