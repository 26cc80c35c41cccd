"""Use case: what commands print with ``--json``: a record for each, of which a JSON schema is made. No command needs it to print."""

from negotiator.app.output_formats.table import OUTPUTS as OUTPUTS
from negotiator.app.output_formats.table import OutputFormat as OutputFormat
from negotiator.app.output_formats.table import output_format as output_format
