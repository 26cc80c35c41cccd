"""Engines: where whole cycles that do not depend on each other are decided: here, in processes, or by the workers of a Dask cluster."""
