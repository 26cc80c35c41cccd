"""The use cases of the program, one module each, for the command line and other interfaces.

A use case takes and returns plain records and raises ``NegotiatorError``. It prints nothing, ends nothing, and imports no
user interface.
"""
