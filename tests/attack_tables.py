"""Invented tables whose other columns give a masked one away, none of which the audit was made
for: each function returns a table, the column to mask, and what is known of it."""

from typing import NamedTuple

import numpy as np

N = 3_000


class Leak(NamedTuple):
    """A table, and what attackers reach at least.

    Attributes
    ----------
    table : dict of str to array
    column : str
    clear : float
        The share of values that the columns in clear tell who knows originals of other records.
    outsider : float
        The share that the release alone tells.
    """

    table: dict
    column: str
    clear: float
    outsider: float = 0.0


def names(letter, numbers):
    return np.array([f"{letter}{number:03d}" for number in numbers])


def shuffled(stream, table):
    order = stream.permutation(len(next(iter(table.values()))))
    return {name: np.asarray(column)[order] for name, column in table.items()}


def premium_of_four_factors():
    stream = np.random.default_rng(84)
    level = stream.integers(0, 8, (4, N))
    factor = np.exp(stream.normal(0.0, 0.4, (4, 8)))
    premium = (120.0 * np.prod([f[k] for f, k in zip(factor, level, strict=True)], axis=0)).round(
        2
    )
    table = {f"factor {k}": names("f", each) for k, each in enumerate(level)}
    return Leak({**table, "premium": premium}, "premium", 0.95, 0.45)


def receipts_with_articles_as_text():
    stream = np.random.default_rng(44)
    articles = ["bread", "milk", "cheese", "wine", "beer", "ham", "coffee", "tea", "soap", "rice"]
    price = np.exp(stream.normal(1.4, 0.7, len(articles))).round(2)
    texts = []
    amounts = []
    for _ in range(N):
        bought = stream.choice(len(articles), stream.integers(1, 6), replace=False)
        number = stream.integers(1, 4, bought.size)
        pairs = zip(number, bought, strict=True)
        texts.append(", ".join(f"{count} {articles[k]}" for count, k in pairs))
        amounts.append(float((price[bought] * number).sum()))
    table = {"shop": stream.integers(1, 9, N), "articles": np.array(texts)}
    return Leak({**table, "amount": np.round(amounts, 2)}, "amount", 0.9, 0.25)


def article_by_shop():
    stream = np.random.default_rng(80)
    article = stream.integers(0, 100, N)
    shop = stream.integers(0, 40, N)
    level = stream.normal(0.0, 0.4, 100)[article] + stream.normal(0.0, 0.35, 40)[shop]
    table = {"article": names("A", article), "shop": names("S", shop)}
    return Leak({**table, "price": np.exp(3.5 + level).round(2)}, "price", 0.9)


def scores_by_class():
    """A standard score within the class is in clear."""
    stream = np.random.default_rng(28)
    school_class = np.repeat(np.arange(N // 25), 25)
    score = stream.normal(0.0, 20.0, N // 25)[school_class] + stream.normal(100.0, 6.0, N)
    by_class = score.reshape(-1, 25)
    z = (by_class - by_class.mean(axis=1)[:, None]) / by_class.std(axis=1)[:, None]
    table = {"class": school_class, "z": z.ravel().round(3), "score": score.round(1)}
    return Leak(shuffled(stream, table), "score", 0.75)


def pay_band_in_text():
    stream = np.random.default_rng(14)
    pay = np.exp(stream.normal(7.8, 0.4, N)).round(-1)
    low = (pay // 200 * 200).astype(int)
    titles = stream.choice(["clerk", "nurse", "driver", "teacher"], N)
    years = stream.integers(2000, 2020, N)
    parts = zip(titles, years, low, strict=True)
    texts = [f"{a}, contract of {b}, pay between {c} and {c + 200}" for a, b, c in parts]
    return Leak({"text": np.array(texts), "pay": pay}, "pay", 0.5)


def trade_in_both_directions():
    """What one country imports is what the other exports, in another row."""
    stream = np.random.default_rng(40)
    country = names("C", range(50))
    reporter, partner = (side.ravel() for side in np.indices((50, 50)))
    exports = np.exp(stream.normal(8.0, 1.0, (50, 50))).round()
    imports = (exports.T * 1.04 * np.exp(stream.normal(0.0, 0.005, (50, 50)))).round()
    apart = reporter != partner
    table = {"reporter": country[reporter], "partner": country[partner]}
    table |= {"exports": exports.ravel(), "imports": imports.ravel()}
    table = {name: column[apart] for name, column in table.items()}
    return Leak(shuffled(stream, table), "imports", 0.8)


def months_in_a_list():
    stream = np.random.default_rng(55)
    months = (
        np.exp(stream.normal(5.0, 0.5, N))[:, None] * stream.lognormal(0.0, 0.3, (N, 12))
    ).round(2)
    lists = np.empty(N, dtype=object)
    lists[:] = months.tolist()
    return Leak({"months": lists, "year": months.sum(axis=1).round(2)}, "year", 0.95)


def stay_in_hospital():
    """Costs follow from two dates, written in German."""
    stream = np.random.default_rng(43)
    days = np.minimum(np.exp(stream.normal(1.8, 0.8, N)).round(), 90).astype(int)
    start = np.datetime64("2021-01-01") + stream.integers(0, 700, N)
    dates = (
        [f"{day.day:02d}.{day.month:02d}.{day.year}" for day in each.astype(object)]
        for each in (start, start + days)
    )
    admitted, discharged = map(np.array, dates)
    cost = (800.0 + 400.0 * days + stream.normal(0.0, 60.0, N)).round()
    return Leak({"in": admitted, "out": discharged, "cost": cost}, "cost", 0.5)


def amount_in_an_hour_of_the_week():
    """A series by the hour, whose level by hour returns each week."""
    stream = np.random.default_rng(60)
    hour = np.arange(N)
    load = stream.normal(0.0, 1.0, 168)[hour % 168] + 0.05 * stream.normal(size=N)
    time = np.datetime64("2020-01-06T00") + hour.astype("m8[h]")
    return Leak(shuffled(stream, {"time": time, "load": load.round(4)}), "load", 0.7)


def donors_named():
    """Half of the values were copied from records that are named."""
    stream = np.random.default_rng(20)
    income = np.exp(stream.normal(7.5, 0.6, N)).round()
    number = stream.permutation(N) + 1_000
    imputed = stream.random(N) < 0.5
    full = np.flatnonzero(~imputed)
    donor = stream.choice(full[:300], N)
    income = np.where(imputed, income[donor], income)
    table = {"number": number, "from": np.where(imputed, number[donor], 0), "income": income}
    return Leak(shuffled(stream, table), "income", 0.25)


LEAKS = (
    premium_of_four_factors,
    receipts_with_articles_as_text,
    article_by_shop,
    scores_by_class,
    pay_band_in_text,
    trade_in_both_directions,
    months_in_a_list,
    stay_in_hospital,
    amount_in_an_hour_of_the_week,
    donors_named,
)
