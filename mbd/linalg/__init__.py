"""Linear algebra: a block solver for the saddle point matrices of constrained mechanisms.

``ordering`` chooses the order of elimination, ``symbolic`` lays the matrix out in dense fronts, ``front``,
``blocked`` and ``numeric`` are the compiled kernels, ``solver`` is the convenient and careful interface on top of them.
"""
