"""Tables of ads: one typed column for each attribute, dictionary-encoded."""

from negotiator.classad.tables.byte_stream import ByteReader as ByteReader
from negotiator.classad.tables.byte_stream import ByteWriter as ByteWriter
from negotiator.classad.tables.byte_stream import DamagedDataError as DamagedDataError
from negotiator.classad.tables.column import DTYPES as DTYPES
from negotiator.classad.tables.column import NUMERIC as NUMERIC
from negotiator.classad.tables.column import BoolArray as BoolArray
from negotiator.classad.tables.column import Column as Column
from negotiator.classad.tables.column import IndexArray as IndexArray
from negotiator.classad.tables.column import StringPool as StringPool
from negotiator.classad.tables.column import bits as bits
from negotiator.classad.tables.column import choose as choose
from negotiator.classad.tables.column import constant as constant
from negotiator.classad.tables.column import from_values as from_values
from negotiator.classad.tables.column import make as make
from negotiator.classad.tables.column import scatter as scatter
from negotiator.classad.tables.column import single as single
from negotiator.classad.tables.dictionary import BLANK as BLANK
from negotiator.classad.tables.dictionary import UNKNOWN as UNKNOWN
from negotiator.classad.tables.dictionary import AdDictionary as AdDictionary
from negotiator.classad.tables.dictionary import Row as Row
from negotiator.classad.tables.dictionary import TooManyNamesError as TooManyNamesError
from negotiator.classad.tables.grouping import group_values as group_values
from negotiator.classad.tables.table import AttributeTable as AttributeTable
from negotiator.classad.tables.table import ExpressionRows as ExpressionRows
from negotiator.classad.tables.table_codec import read_rows as read_rows
from negotiator.classad.tables.table_codec import write_rows as write_rows
