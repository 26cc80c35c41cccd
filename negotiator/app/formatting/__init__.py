"""Use case: the YAML files of a bundle in one style, with every comment in its place."""

from negotiator.app.formatting.folder import FormattedFile as FormattedFile
from negotiator.app.formatting.folder import FormattedFolder as FormattedFolder
from negotiator.app.formatting.folder import format_folder as format_folder
from negotiator.app.formatting.folder import write_formatted as write_formatted
