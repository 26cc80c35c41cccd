"""What condor_userprio shows of accounts, and its command line."""

from negotiator_fairshare.userprio.arguments import UserprioArguments as UserprioArguments
from negotiator_fairshare.userprio.arguments import read_arguments as read_arguments
from negotiator_fairshare.userprio.columns import ColumnSet as ColumnSet
from negotiator_fairshare.userprio.report import UserprioReport as UserprioReport
from negotiator_fairshare.userprio.report import report_of as report_of
from negotiator_fairshare.userprio.table import UserprioView as UserprioView
from negotiator_fairshare.userprio.table import table_lines as table_lines
