"""What a report does not promise stands in it, for noise and for reverse mapping."""

from report_pages import MAPPED, SCHEME

import condmask as cm


def test_the_scheme_and_versions_are_told(internal, public):
    for page in (internal, public):
        assert SCHEME.sentence() in page
        assert f"condmask {cm.__version__}" in page
        assert "This is not differential privacy" in page
        assert "Never publish two maskings of one file" in page


def test_reverse_mapping_is_told_in_plain_words(mapped):
    for page in mapped[1:]:
        assert MAPPED.sentence() in page
        assert "All values of the original are in the release, each once: the largest and the total" in page
        assert "Every value of the original is in the release" in page
        assert "the exponential of" not in page  # nothing of noise as it is released
        assert "Results that are computed from a masked column as if" not in page
    assert "Can anyone tell which records were swapped?</h2>" in mapped[1]
