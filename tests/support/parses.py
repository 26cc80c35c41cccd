"""Which texts are expressions: a constant that no time can be read from, such as ``relTime("x")``, makes a text none."""

from negotiator.classad import ParseError, parse


def parses(text):
    """Whether the text is an expression; a filter for strategies."""
    try:
        parse(text)
    except ParseError:
        return False
    return True
