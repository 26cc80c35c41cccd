"""HTCondor's own library in a separate process, since some expressions crash it.

Run as a script, this file is that process. It reads lines of JSON and answers each with one line: ``[my, target,
expr]`` with the value, ``[ads, questions]`` with all values, where a question is an expression and the numbers of its
ads, and ``{"call": NAME, "arguments": [...]}`` with what a function of ``classad_interface`` returns.
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
    """True if the library is installed."""
    return (
        importlib.util.find_spec("htcondor2") is not None and importlib.util.find_spec("classad2") is not None
    )


class Oracle:
    """The process of the library. It is restarted after a crash."""

    def __init__(self):
        self.process = None

    def ask(self, expr, my=None, target=None):
        """Return the value as ``[kind, text]``; ``["crash", ""]`` if the library crashes."""
        return self._answer([my, target, expr]) or ["crash", ""]

    def ask_all(self, ads, questions):
        """Return the values of many expressions for a few ads; None if the library crashes.

        A question is ``[expr, my, target]``, with the numbers of the ads, or None.
        """
        return self._answer([ads, questions])

    def call(self, name, *arguments):
        """Return what a function of ``classad_interface`` returns for the library; None if it crashes."""
        return self._answer({"call": name, "arguments": arguments})

    def _answer(self, message):
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
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            return json.loads(answer)
        self.close()
        return None

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def real_text(number):
    """Return a text of a real that is equal only for equal bits; all NaNs are alike."""
    return "nan" if math.isnan(number) else struct.pack(">d", number).hex()


def serve():
    """Answer questions from standard input until its end."""
    importlib.import_module("htcondor2")  # first, or the library uses another dialect
    classad2 = importlib.import_module("classad2")

    def made(ad):
        return classad2.ClassAd(ad) if isinstance(ad, str) else ad

    def evaluate(expr, my, target):
        try:
            ads = [made(ad) for ad in (my, target) if ad is not None]
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

    def answers(texts, questions):
        ads = [made(text) for text in texts]
        chosen = [(expr, *(None if at is None else ads[at] for at in sides)) for expr, *sides in questions]
        return [answer(my, target, expr) for expr, my, target in chosen]

    interface = importlib.import_module("classad_interface")

    def reply_to(message):
        if isinstance(message, dict):
            return getattr(interface, message["call"])(classad2, *message["arguments"])
        return answers(*message) if len(message) == 2 else answer(*message)

    for line in sys.stdin:
        reply = reply_to(json.loads(line))
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
