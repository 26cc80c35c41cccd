"""Checks of the records that plugins return, a module for each family of records.

Each check is called with a record and the arguments of the call. It returns the record that the core may keep, or raises
``WrongAnswerError`` with the expected form. Texts are made printable and shortened. Masks are copied and set read-only, so
that a plugin can't change its answer later.
"""
