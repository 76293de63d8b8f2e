"""How near an attacker comes to original values, and what is refused before anything is released.

Who was swapped may show, by digits, ties or relations of columns. So all figures assume an
attacker who knows every coin: `known_coins` for tables, `joint_law` for one column. Refused are
columns that others in clear give away (`computable`, `limits`), noise too narrow for what is
repeated (`limits`), and what needs no release, or hardly any (`rails`).
"""
