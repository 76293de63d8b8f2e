"""What attackers learn of the originals from a scheme, or from a release under it."""
