"""A plugin of pytest: Hypothesis stops at the first failing example, since no one reads it."""

from hypothesis import Phase, settings

settings.register_profile(
    "unshrunk",
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
