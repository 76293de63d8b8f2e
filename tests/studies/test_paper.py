"""The study of the paper, and the figures it printed."""

import warnings

from condmask.studies import paper


def test_the_paper_agrees_where_it_is_no_misprint():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = paper.run(400, rng=7, sizes=(2000,))
    honest = [line for line in result.lines if not line["remark"]]
    # 24 cells within 4.5 joint standard errors: false alarm below 24 * 7e-6
    assert len(honest) == 24
    assert max(abs(line["z"]) for line in honest) < 4.5
    assert min(abs(line["z"]) for line in result.lines if line["remark"]) > 20
    text = paper.show(result)

    assert "misprint: scored against 1000" in text
    assert "-0.68645" in text
