"""Use case: a policy bundle to start from, of those that installed plugins offer."""

from negotiator.app.new_bundle.create import NewBundle as NewBundle
from negotiator.app.new_bundle.create import create_bundle as create_bundle
from negotiator.app.new_bundle.create import create_example_pool as create_example_pool
from negotiator.app.new_bundle.offers import OfferedBundle as OfferedBundle
from negotiator.app.new_bundle.offers import StartingBundles as StartingBundles
from negotiator.app.new_bundle.offers import read_own_files as read_own_files
