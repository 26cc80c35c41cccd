"""Evaluation of one expression for one ad or one pair of ads, exactly as HTCondor's ClassAd library does it."""
