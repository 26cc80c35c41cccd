"""The modes of real pools that tests run in; some run in all of them on request only, because each takes half a minute."""

import os

import pytest

SHARED_PORT = "shared port"
ALL = ("open", "secure", SHARED_PORT)

_WANTED = os.environ.get("NEGOTIATOR_TEST_POOLS", "") == "all"
_OTHERS = pytest.mark.skipif(not _WANTED, reason="other modes of pools: set NEGOTIATOR_TEST_POOLS=all")

#: The secure mode always, the others on request.
MOSTLY_SECURE = tuple(mode if mode == "secure" else pytest.param(mode, marks=_OTHERS) for mode in ALL)
