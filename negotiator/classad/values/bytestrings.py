"""Strings as the bytes they are in HTCondor.

A string of the language is UTF-8 decoded with ``surrogateescape`` (see ``kinds``). Code that counts or cuts bytes uses
``to_bytes`` and ``from_bytes``. Each is the inverse of the other for every string without a NUL.
"""

from __future__ import annotations

MAX_BYTES = 1 << 22
"""Length limit of the strings that functions build. A longer result is an error; HTCondor would go on allocating."""

_UPPER_TO_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")

_DIGITS = b"0123456789"

SPACES = b" \t\n\v\f\r"
"""White space according to ``isspace`` in the C locale."""


def to_bytes(text: str) -> bytes:
    """Return the bytes of a string of the language."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate that does not encode a byte, which JSON can spell. Any bytes will do.
        return text.encode("utf-8", "surrogatepass")


def from_bytes(data: bytes) -> str:
    """Return the string of the language that has these bytes."""
    return data.decode("utf-8", "surrogateescape")


def until_nul(data: bytes) -> bytes:
    """Return the bytes before the first NUL: the string as C sees it."""
    end = data.find(b"\0")
    return data if end < 0 else data[:end]


def fold_bytes(data: bytes) -> bytes:
    """Return the bytes with A to Z in lower case, as HTCondor folds strings for comparisons that ignore case."""
    return data.translate(_UPPER_TO_LOWER)


def natural_compare(left: bytes, right: bytes) -> int:
    """Compare version-like strings like glibc's ``strverscmp``: negative if ``left`` sorts first, 0 if equal.

    ``versioncmp`` shows the number to users, so its size matters too. It is HTCondor's: a difference of bytes, of the
    numbers of leading zeros, or of the lengths of two runs of digits. Bytes are signed, as on x86.
    """
    first = _first_mismatch(left, right)
    one, other = _signed(left, first), _signed(right, first)
    if one == other:
        return 0
    start = len(left[:first].rstrip(_DIGITS))
    if start == first and not (_is_digit(left, first) and _is_digit(right, first)):
        return one - other
    left_zeros, right_zeros = _leading_zeros(left, start), _leading_zeros(right, start)
    if left_zeros != right_zeros:
        return right_zeros - left_zeros
    if left_zeros > 0:
        return one - other
    left_digits, right_digits = _digits_from(left, start), _digits_from(right, start)
    return left_digits - right_digits if left_digits != right_digits else one - other


def _first_mismatch(left: bytes, right: bytes) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _signed(data: bytes, at: int) -> int:
    byte = data[at] if at < len(data) else 0
    return byte - 256 if byte > 127 else byte


def _is_digit(data: bytes, at: int) -> bool:
    return data[at : at + 1].isdigit()


def _digits_from(data: bytes, start: int) -> int:
    return len(data) - start - len(data[start:].lstrip(_DIGITS))


def _leading_zeros(data: bytes, start: int) -> int:
    zeros = len(data) - start - len(data[start:].lstrip(b"0"))
    # The last zero of "00" is the number, not a leading zero.
    return zeros if zeros == 0 or _is_digit(data, start + zeros) else zeros - 1
