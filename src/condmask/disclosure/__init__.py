"""What a release shows of its coins: an attacker, what he reads, and what helps."""
