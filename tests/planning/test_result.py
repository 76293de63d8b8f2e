"""A plan in print and in terms of JSON."""

import json

import numpy as np
import pandas as pd
from scipy.stats import laplace

import condmask as cm

N = 2_000
X = np.random.default_rng(0).permutation(laplace.ppf((np.arange(N) + 0.5) / N, 10, 1000))
W = 0.6 * X + 800 * np.random.default_rng(1).laplace(size=N)
FAST = {"p": [0.3, 0.6, 0.8], "sigma": [500.0, 1000.0, 2000.0]}


def test_a_plan_reads_and_writes(tmp_path):
    made = cm.plan(X, max_risk={500: 0.45}, other=W, **FAST)

    entries = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert len(entries["schemes"]) == 18
    assert cm.ConditionalMasking.from_dict(entries["suggestions"][0]["scheme"]) == made.best.scheme
    assert list(made.to_frame()["p"].unique()) == [0.3, 0.6, 0.8]
    assert entries["suggestions"][0]["record risk"] == made.best.expected.record_risk.tolist()
    assert "most useful: ConditionalMasking(" in str(made)
    made.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 10_000
    assert "ratios are known to" in str(made.check(replications=10, target="file", rng=1))


def test_what_masking_refuses_is_marked_in_table_and_picture(tmp_path):
    heaped = 100.0 * np.rint(np.exp(8 + X / 4000) / 100.0)
    made = cm.plan(pd.Series(heaped, name="pay"), d=[500], p=[0.3, 0.8], sigma=[500.0, 1000.0], decimals=0)
    rows = made.to_frame()

    asked = rows["frontier"] & rows["allowed"]
    refused = rows["audit"] == "refused by the audit"
    assert refused.any()
    assert (asked & ~refused).any()
    for candidate, is_asked, is_refused in zip(made.candidates, asked, refused, strict=True):
        if is_asked:
            assert (cm.audit(heaped, candidate.scheme).visible) == is_refused
    assert set(rows["audit"]) == {"", "refused by the audit"}
    (panel,) = made.plot(tmp_path / "plan.png")
    assert "share of records whose pay is" in panel.get_xlabel()
    lines = {line.get_label(): line for line in panel.lines}
    assert sorted(lines["refused by the audit"].get_ydata()) == sorted(rows["loss"][refused])
    assert made.to_dict()["schemes"][int(refused.to_numpy().argmax())]["audit"] == "refused by the audit"
