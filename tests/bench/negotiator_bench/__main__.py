"""Run the benchmark: ``python -m negotiator_bench``, with ``tests/bench`` on the path of modules."""

from negotiator_bench.command import bench

bench(prog_name="python -m negotiator_bench")
