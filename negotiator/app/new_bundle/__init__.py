"""Use case: a policy bundle to start from, for somebody who knows HTCondor, YuniKorn or Grid Engine."""

from negotiator.app.new_bundle.create import NewBundle as NewBundle
from negotiator.app.new_bundle.create import create_bundle as create_bundle
from negotiator.app.new_bundle.create import create_example_pool as create_example_pool
from negotiator.app.new_bundle.system import PoolSystem as PoolSystem
from negotiator.app.new_bundle.system import guessed_system as guessed_system
