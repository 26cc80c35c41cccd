"""Where a line belongs in a file: its function, its statement, and what of it are annotations."""

import ast


class Statements:
    """The functions, statements and annotations of one file."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self._functions: list[tuple[int, int, str]] = []
        self._statements: list[tuple[int, int]] = []
        self._annotations: list[ast.expr] = []
        self._walk(tree, "")

    def function(self, line: int) -> str:
        """Return the qualified name of the innermost function or class of a line, empty in a module."""
        around = [(start, name) for start, end, name in self._functions if start <= line <= end]
        return max(around, default=(0, ""))[1]

    def lines(self, line: int) -> range:
        """Return the lines of the innermost statement of a line; a compound one ends before its body."""
        around = [(start, end) for start, end in self._statements if start <= line <= end]
        start, end = max(around, key=lambda rows: (rows[0], -rows[1]), default=(line, line))
        return range(start, end + 1)

    def is_annotation(self, line: int, column: int) -> bool:
        """Return True if the place is part of an annotation of a type."""
        return any(
            (each.lineno, each.col_offset)
            <= (line, column)
            < (each.end_lineno or 0, each.end_col_offset or 0)
            for each in self._annotations
        )

    def _walk(self, node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}" if name else child.name
                self._functions.append((child.lineno, child.end_lineno or child.lineno, inner))
            if isinstance(child, ast.stmt):
                self._statements.append((child.lineno, _last_line(child)))
            found = getattr(child, "annotation", None) or getattr(child, "returns", None)
            if isinstance(found, ast.expr):
                self._annotations.append(found)
            self._walk(child, inner)


def _last_line(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if body:
        first = getattr(body[0], "lineno", None) or body[0].pattern.lineno
        return max(statement.lineno, int(first) - 1)
    return statement.end_lineno or statement.lineno
