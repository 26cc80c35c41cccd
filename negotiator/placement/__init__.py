"""The chain of placement rules: what all rules have in common, made from the configuration and what plugins bring."""

from negotiator.placement.build import make_chain as make_chain
from negotiator.placement.chain import AccessCache as AccessCache
from negotiator.placement.chain import Chain as Chain
from negotiator.placement.chain import Placement as Placement
from negotiator.placement.chain import PlacementStep as PlacementStep
