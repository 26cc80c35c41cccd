"""Changes of functions in a running process: it has imported the unchanged file."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType


def changed_functions(path: Path, before: str, after: str) -> dict[tuple[str, int], CodeType] | None:
    """Return the new code of changed functions by qualified name and first line.

    None if the change is not within functions alone: in a module, a class, a default or a decorator.
    """
    old, new = (list(_codes(compile(text, str(path), "exec"))) for text in (before, after))
    if len(old) != len(new):
        return None
    pairs = [pair for pair in zip(old, new, strict=True) if _own(pair[0][1]) != _own(pair[1][1])]
    if not all(is_function for ((is_function, _), _) in pairs):
        return None
    around = {_key(code) for _, code in new if any(_contains(code, changed) for _, (_, changed) in pairs)}
    return {_key(code): code for is_function, code in new if is_function and _key(code) in around}


def functions_to_swap(path: Path, codes: dict[tuple[str, int], CodeType]) -> list[FunctionType] | None:
    """Return the functions of a file that must get new code.

    None if the file has been imported, and its functions cannot be found or cannot take the code.
    """
    text = str(path)
    found = [
        each for each in gc.get_objects() if type(each) is FunctionType and each.__code__.co_filename == text
    ]
    found = [each for each in found if _key(each.__code__) in codes]
    if any(each.__code__.co_freevars != codes[_key(each.__code__)].co_freevars for each in found):
        return None
    imported = any(getattr(module, "__file__", None) == text for module in list(sys.modules.values()))
    return found if found or not imported else None


def swap(functions: list[FunctionType], codes: dict[tuple[str, int], CodeType]) -> None:
    """Give the functions their new code."""
    for each in functions:
        each.__code__ = codes[_key(each.__code__)]


def _codes(code: CodeType, *, in_function: bool = False) -> Iterator[tuple[bool, CodeType]]:
    """Yield a code object and those inside it, each with True if it is a function's or inside of one."""
    is_function = in_function or bool(code.co_flags & 0x2)  # CO_NEWLOCALS: neither a module nor a class
    yield is_function, code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant, in_function=is_function)


def _contains(outer: CodeType, inner: CodeType) -> bool:
    return any(code is inner for _, code in _codes(outer))


def _own(code: CodeType) -> tuple[object, ...]:
    """Return what a code object does, without the code objects inside."""
    constants = [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno
