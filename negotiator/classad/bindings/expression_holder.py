"""What ``ClassAd`` and ``ExprTree`` have in common: each stands for one expression of the language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from negotiator.classad.syntax import Expr


class ExpressionHolder(ABC):
    """An object of the Python interface that stands for an expression."""

    @abstractmethod
    def to_expression(self) -> Expr:
        """Return the expression, which never changes: a later change of the object makes another one."""
