"""How fast and how small the engine is, beside HTCondor's own library in the same run.

The inputs are made, not read: the same numbers always give the same ads. Each measurement is taken several times,
ours and the library's in turn, and the medians are printed with every single value. See ``suite`` for what is measured.
"""
