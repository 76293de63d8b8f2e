"""Fuzzing: condmask on bytes and arguments that nobody has thought of.

``python -m fuzz`` gives the targets of ``targets/`` a minute in all, ``python -m fuzz csv --seconds 3600`` an
hour to one. A target is at fault if it raises anything but a refusal, crashes, hangs or grows.

The engine is Atheris: libFuzzer, guided by which lines of condmask an input reaches, at thousands of inputs a
second on a reader of bytes. It changes bytes, notices crashes, hangs and growth, and saves the input.
Arguments are drawn from bytes by Hypothesis, which the tests need anyway. Kernels are not watched: Numba
compiles them.
"""
