"""Measure how closely attackers can guess originals, and refuse releases that show too much.

Digits, ties or relations of columns may show which records were swapped. So all figures assume an
attacker who knows every swap status: by closed forms for one column (`column`), and by attackers
who learn for tables (`table`). Figures become findings in `policy`; `limits` seeks what helps.
Dangers that are seen without an attack are found by `rails`.
"""
