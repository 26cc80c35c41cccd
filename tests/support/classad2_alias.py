"""A plugin of pytest for HTCondor's own tests: ``classad2`` is ``negotiator.classad`` in them."""

import sys

from negotiator import classad

sys.modules["classad2"] = classad
