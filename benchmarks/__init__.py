"""Benchmarks: ``asv run --python same`` for history, ``versus/`` for ratios in one run.

The scripts in ``versus/`` write the tables of docs/performance.rst. Compilation happens in
``setup``, outside the clock. Sizes never depend on the machine; read ratios, not seconds, and take
differences below 10% for noise.
"""
