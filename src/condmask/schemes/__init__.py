"""The publisher's view: schemes that mask, and what they have in common."""
