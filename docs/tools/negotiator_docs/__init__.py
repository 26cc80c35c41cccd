"""What the documentation needs beside its pages: reference pages from the code, and the output of the commands that pages show.

``python -m negotiator_docs`` renews all of it; ``tests/docs`` holds that it is current.
"""
