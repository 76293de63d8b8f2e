"""Faults put into condmask one at a time, to see whether the tests notice.

``python -m fuzz.faults`` goes through the lists of ``rooms/``, one file for each folder of the package. A row
names a file, an exact piece of its text, what stands there instead, and what would go wrong: mistakes that
somebody who knows the subject would fear, such as a missing n / (n - 1), p for 1 - p, or a lost fsync. Tools
that change every operator (mutmut, cosmic-ray) make tens of thousands of these, few of them feared, and take
weeks; neither takes a list.
"""
