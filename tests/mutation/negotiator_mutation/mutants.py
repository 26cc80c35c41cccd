"""Changes of one token: a boundary, a negation, a constant, an operator. cosmic-ray makes them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

from negotiator_mutation.statements import Statements

#: Of cosmic-ray's operators, those whose changes a person could make by mistake.
OPERATORS = (
    *(
        f"core/ReplaceComparisonOperator_{change}"
        for change in ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")
    ),
    *(
        f"core/ReplaceBinaryOperator_{change}"
        for change in (
            *("Add_Sub", "Sub_Add", "Mul_FloorDiv", "FloorDiv_Mul", "Div_Mul", "Mod_FloorDiv", "Pow_Mul"),
            *("BitOr_BitAnd", "BitAnd_BitOr", "LShift_RShift", "RShift_LShift"),
        )
    ),
    *(f"core/ReplaceUnaryOperator_{change}" for change in ("USub_UAdd", "Delete_Invert", "Delete_Not")),
    *(f"core/{name}" for name in ("AddNot", "NumberReplacer", "ZeroIterationForLoop")),
    *(f"core/Replace{change}" for change in ("TrueWithFalse", "FalseWithTrue", "AndWithOr", "OrWithAnd")),
    *(f"core/Replace{change}" for change in ("BreakWithContinue", "ContinueWithBreak")),
)


@frozen
class Mutant:
    """One change: the ``occurrence``-th place of a file that the operator can change (from 0)."""

    path: Path
    line: int
    function: str  #: the qualified name of the function or class, empty in a module
    operator: str
    occurrence: int

    def text(self, source: str) -> str:
        """Return the text of the whole file with the change."""
        changed: str = mutate_code(source, _operator(self.operator), self.occurrence)
        return changed

    def is_valid(self, source: str) -> bool:
        """Return True if the file with the change is Python."""
        try:
            ast.parse(self.text(source))
        except SyntaxError:
            return False
        return True

    def change(self, source: str) -> tuple[str, str]:
        """Return the changed lines without indentation: before and after."""
        before, after = source.splitlines(), self.text(source).splitlines()
        changed = [i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]]
        rows = slice(changed[0], changed[-1] + 1) if changed else slice(0)
        return "\n".join(map(str.strip, before[rows])), "\n".join(map(str.strip, after[rows]))


def mutants(path: Path, source: str) -> Iterator[Mutant]:
    """Yield all mutants of a file: annotations and unions of types at the top of a file are left alone."""
    nodes = list(ast_nodes(get_ast(source)))
    statements = Statements(source)
    for name in OPERATORS:
        operator = _operator(name)
        places = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, (line, column) in enumerate(places):
            function = statements.function(line)
            if not statements.is_annotation(line, column) and (function or not name.endswith("BitOr_BitAnd")):
                yield Mutant(path, line, function, name, occurrence)


def _operator(name: str) -> Operator:
    return get_operator(name)()
