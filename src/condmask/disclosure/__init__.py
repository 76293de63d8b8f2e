"""What attackers learn from a release: which records were swapped, and what the originals are."""
