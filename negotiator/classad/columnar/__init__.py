"""Evaluation of one expression for all rows of a table at once, with the same values as scalar evaluation."""

from negotiator.classad.columnar.column_cache import CacheKey as CacheKey
from negotiator.classad.columnar.column_cache import ColumnCache as ColumnCache
from negotiator.classad.columnar.column_cache import MemoryBudget as MemoryBudget
from negotiator.classad.columnar.dependencies import Dependencies as Dependencies
from negotiator.classad.columnar.dependencies import DependencyIndex as DependencyIndex
from negotiator.classad.columnar.evaluation import evaluate_table as evaluate_table
from negotiator.classad.columnar.footprints import Footprint as Footprint
from negotiator.classad.columnar.footprints import attributes_footprint as attributes_footprint
from negotiator.classad.columnar.footprints import footprint as footprint
from negotiator.classad.columnar.footprints import footprint_before_rows as footprint_before_rows
from negotiator.classad.columnar.row_sets import PackedMask as PackedMask
from negotiator.classad.columnar.row_sets import TrueRows as TrueRows
from negotiator.classad.columnar.row_sets import number_of_bits as number_of_bits
from negotiator.classad.columnar.row_sets import reads_of_rows as reads_of_rows
from negotiator.classad.columnar.shapes import Shape as Shape
from negotiator.classad.columnar.shapes import ShapedRows as ShapedRows
from negotiator.classad.columnar.shapes import shape_of as shape_of
from negotiator.classad.columnar.shapes import shaped_rows as shaped_rows
from negotiator.classad.columnar.table import Table as Table
