"""Measure how closely attackers can guess originals, and refuse releases that show too much.

Digits, ties or relations of columns may show which records were swapped. So all figures assume an
attacker who knows every swap status: `known_coins` for tables, `joint_law` for one column. A
release is refused if columns in clear give a masked one away (`computable`, `limits`), if noise is
too narrow for values that repeat (`limits`), or for dangers seen without an attack (`rails`).
"""
