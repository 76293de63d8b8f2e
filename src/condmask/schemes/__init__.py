"""The publisher's view: masking schemes, and what they share."""
