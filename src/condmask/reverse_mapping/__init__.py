"""The original's statistics after reverse mapping."""
