"""Run the mutation tester: ``python -m negotiator_mutation``, with ``tests/mutation`` on the path of modules."""

from negotiator_mutation.command import mutate

mutate(prog_name="python -m negotiator_mutation")
