"""The ledger: sums and sets of keys, the charges of a match, and the admission of a request's jobs. Pure: no I/O."""

from negotiator.ledger.admission import Admission as Admission
from negotiator.ledger.admission import KnownRefusals as KnownRefusals
from negotiator.ledger.admission import admit_alike as admit_alike
from negotiator.ledger.charges import AlikeCharges as AlikeCharges
from negotiator.ledger.charges import Charge as Charge
from negotiator.ledger.charges import ChargeReader as ChargeReader
from negotiator.ledger.charges import KeyCharge as KeyCharge
from negotiator.ledger.counters import Counters as Counters
from negotiator.ledger.errors import LedgerError as LedgerError
from negotiator.ledger.keys import LARGEST as LARGEST
from negotiator.ledger.keys import CounterKey as CounterKey
from negotiator.ledger.keys import Family as Family
from negotiator.ledger.keys import Grouping as Grouping
from negotiator.ledger.keys import Ints as Ints
from negotiator.ledger.keys import Rows as Rows
from negotiator.ledger.ledger import Ledger as Ledger
from negotiator.ledger.ledger import Receipt as Receipt
from negotiator.ledger.limits_in_use import ExceededCounter as ExceededCounter
from negotiator.ledger.limits_in_use import LimitsInUse as LimitsInUse
