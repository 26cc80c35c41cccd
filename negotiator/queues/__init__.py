"""Queues: configuration and its checks, resource quantities, access control lists, and the current queue tree."""

from negotiator.queues.acl import Acl as Acl
from negotiator.queues.model import NodeSortKind as NodeSortKind
from negotiator.queues.model import NodeSortPolicy as NodeSortPolicy
from negotiator.queues.model import PartitionConfig as PartitionConfig
from negotiator.queues.model import QueueConfig as QueueConfig
from negotiator.queues.model import QueueLimit as QueueLimit
from negotiator.queues.names import RECOVERY as RECOVERY
from negotiator.queues.names import ROOT as ROOT
from negotiator.queues.tree import MutableQueueTree as MutableQueueTree
from negotiator.queues.tree import Queue as Queue
from negotiator.queues.tree import QueueChange as QueueChange
from negotiator.queues.tree import QueueChangeKind as QueueChangeKind
from negotiator.queues.tree import QueueState as QueueState
from negotiator.queues.tree import QueueTree as QueueTree
