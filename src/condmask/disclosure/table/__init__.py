"""Attacks on tables: an encoding of columns in clear, attackers who learn from it, and what they
reach."""
