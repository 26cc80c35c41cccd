"""Evaluation of one expression for all rows of a table at once, with the same values as scalar evaluation."""
