"""Which random texts are valid: one with an invalid time literal, such as ``relTime("x")``, is not an expression."""

from negotiator.classad import ParseError, parse


def parses(text):
    """True if the text is an expression; a filter for strategies."""
    try:
        parse(text)
    except ParseError:
        return False
    return True
