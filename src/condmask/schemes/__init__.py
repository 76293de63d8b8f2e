"""What a publisher does: one masking method per file."""
