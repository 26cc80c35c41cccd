"""Tables of ads: one typed column for each attribute, dictionary-encoded."""
