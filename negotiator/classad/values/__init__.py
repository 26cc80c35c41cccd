"""Simple ClassAd values: their types, their text forms, and the arithmetic of C they follow."""

from negotiator.classad.values.bytestrings import MAX_BYTES as MAX_BYTES
from negotiator.classad.values.bytestrings import SPACES as SPACES
from negotiator.classad.values.bytestrings import fold_bytes as fold_bytes
from negotiator.classad.values.bytestrings import from_bytes as from_bytes
from negotiator.classad.values.bytestrings import natural_compare as natural_compare
from negotiator.classad.values.bytestrings import to_bytes as to_bytes
from negotiator.classad.values.bytestrings import until_nul as until_nul
from negotiator.classad.values.kinds import ERROR as ERROR
from negotiator.classad.values.kinds import UNDEFINED as UNDEFINED
from negotiator.classad.values.kinds import AbsTime as AbsTime
from negotiator.classad.values.kinds import Exceptional as Exceptional
from negotiator.classad.values.kinds import Kind as Kind
from negotiator.classad.values.kinds import RelTime as RelTime
from negotiator.classad.values.numbertext import real_prefix as real_prefix
from negotiator.classad.values.numbertext import truncate32 as truncate32
from negotiator.classad.values.numbertext import truncate64 as truncate64
from negotiator.classad.values.numbertext import wrap32 as wrap32
from negotiator.classad.values.numbertext import wrap64 as wrap64
from negotiator.classad.values.time_format import strftime as strftime
from negotiator.classad.values.timetext import Calendar as Calendar
from negotiator.classad.values.timetext import abs_time_text as abs_time_text
from negotiator.classad.values.timetext import c_divmod as c_divmod
from negotiator.classad.values.timetext import calendar as calendar
from negotiator.classad.values.timetext import parse_abs_time as parse_abs_time
from negotiator.classad.values.timetext import parse_rel_time as parse_rel_time
from negotiator.classad.values.timetext import rel_time_text as rel_time_text
