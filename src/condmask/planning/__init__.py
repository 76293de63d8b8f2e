"""Which scheme to take: what attackers learn against what analysts lose, before anything is
masked."""
