"""The original's statistics after reverse mapping (docs/reverse_mapping.rst)."""
