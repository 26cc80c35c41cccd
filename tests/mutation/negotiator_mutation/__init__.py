"""Mutation testing: change one token of the program, and see whether the tests of its room fail."""
