"""HTCondor's own library, asked in a process of its own, since some expressions crash it.

Run as a script it is that process: a line of JSON ``[my, target, expr]`` in, a line with the value out.
"""

import importlib
import importlib.util
import json
import math
import os
import struct
import subprocess
import sys

LIST_AS_TEXT = "string(%s)"


def available():
    """Whether the library is installed here."""
    return (
        importlib.util.find_spec("htcondor2") is not None and importlib.util.find_spec("classad2") is not None
    )


class Oracle:
    """The other process; it is started again after a crash."""

    def __init__(self):
        self.process = None

    def ask(self, expr, my=None, target=None):
        """The value as ``[kind, text]``; ``["crash", ""]`` where the library dies of it."""
        if self.process is None:
            environment = os.environ | {"CONDOR_CONFIG": "/dev/null", "TZ": "UTC"}
            self.process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
        try:
            self.process.stdin.write(json.dumps([my, target, expr]) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            return json.loads(answer)
        self.close()
        return ["crash", ""]

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def real_text(number):
    """A real so that equal texts mean the same bits, except that NaN is NaN."""
    return "nan" if math.isnan(number) else struct.pack(">d", number).hex()


def serve():
    """Answer questions until there are no more."""
    importlib.import_module("htcondor2")  # first, or the library speaks another dialect
    classad2 = importlib.import_module("classad2")

    def evaluate(expr, my, target):
        try:
            ads = [classad2.ClassAd(text) for text in (my, target) if text is not None]
            tree = classad2.ExprTree(expr)
        except classad2.ClassAdException:
            return None, "parse"
        try:
            return tree.eval(*ads), None
        except classad2.ClassAdException:
            return None, "error"

    def answer(my, target, expr):
        value, trouble = evaluate(expr, my, target)
        if trouble:
            return [trouble, ""]
        if isinstance(value, classad2.Value):
            return [value.name.lower(), ""]
        if isinstance(value, bool | int | str):
            return [type(value).__name__, str(value)]
        if isinstance(value, float) and evaluate(f"isRelTime({expr})", my, target)[0] is not True:
            return ["float", real_text(value)]
        kind = "reltime" if isinstance(value, float) else "other"
        return [kind, evaluate(LIST_AS_TEXT % expr, my, target)[0]]

    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(*json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
