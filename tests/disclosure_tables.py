"""Tables as offices have them, each with what their columns in clear or their noise give away."""

from dataclasses import dataclass

import numpy as np
from releases import coins_of_table

import condmask as cm
from condmask._randomness import Key

N = 4_000


@dataclass(frozen=True)
class Case:
    """A table, the schemes of the columns to mask, and what the audit is to say of it.

    Attributes
    ----------
    reached : float
        The share of values that an attacker guesses at least, by a formula.
    same : ndarray of shape (n,)
        Which records say the same, if some do.
    refused : str
        Words of the reason; empty if the release passes.
    """

    table: dict
    schemes: dict
    reached: float = 0.0
    refused: str = ""
    dropped: tuple = ()  # columns without which it passes
    same: np.ndarray | None = None


def by_hand(made, near=0.1):
    """The share of values of who knows the coins and takes means of kept records that say the
    same."""
    key = Key(bytes(16))
    data = {name: made.table[name] for name in made.schemes}
    release = cm.mask_table(data, made.schemes, rng=key, accept="all").data
    swapped = coins_of_table(made.schemes, data, key)
    u = np.log(next(iter(data.values())))
    z = np.mean([np.log(column) for column in release.values()], axis=0)
    number = np.bincount(made.same, ~swapped)
    mean = np.bincount(made.same, np.where(swapped, 0.0, z)) / np.maximum(number, 1)
    mean = mean[made.same]
    told = number[made.same] > 0
    guess = np.where(told, np.polyval(np.polyfit(mean[told], u[told], 1), mean), np.median(u))
    spread = np.diff(np.quantile(u, (0.1, 0.9)))[0] / 2.563
    return np.mean(np.abs(u - guess) < near * spread)


def mapped(sigma=0.3, **options):
    return cm.ReverseMapping(0.6, sigma, aggregate_ends=5, **options)


def log(sigma=0.2, **options):
    return mapped(sigma, scale="log", **options)


def incomes(stream, n=N):
    return stream.lognormal(8.0, 0.6, n).round()


def firms(stream, size=10, within=0.05):
    """Firms of so many months, whose revenues say nearly the same each time; rows in no order."""
    firm = np.repeat(np.arange(N // size), size)
    value = np.exp(
        np.repeat(stream.normal(8.0, 0.8, N // size), size) + stream.normal(0.0, within, N)
    )
    order = stream.permutation(N)
    return firm[order], np.tile(np.arange(size), N // size)[order], value[order].round()


def harmless():
    stream = np.random.default_rng(1)
    income = incomes(stream)
    clear = {"age": stream.integers(18, 90, N), "sex": stream.integers(0, 2, N)}
    clear["region"] = np.array(["north", "south", "east"])[stream.integers(0, 3, N)]
    return Case({"income": income, **clear}, {"income": log()})


def correlated():
    """A multiple correlation of .7 tells something, and not too much."""
    stream = np.random.default_rng(2)
    income = incomes(stream)
    clear = {f"w{k}": np.log(income) + stream.normal(0.0, 1.2, N) for k in range(4)}
    return Case({"income": income, **clear}, {"income": log()})


def total():
    stream = np.random.default_rng(3)
    income = incomes(stream)
    bonus = stream.lognormal(6.0, 0.5, N).round()
    table = {
        "income": income,
        "bonus": bonus,
        "total": income + bonus,
        "age": stream.integers(18, 90, N),
    }
    return Case(table, {"income": log()}, 0.9, "income = total - bonus", ("total",))


def near_copies():
    stream = np.random.default_rng(4)
    income = incomes(stream)
    copies = {name: income * np.exp(stream.normal(0.0, 0.05, N)) for name in ("gross", "taxed")}
    table = {"income": income, **copies}
    return Case(table, {"income": log(0.3)}, 0.8, "columns in clear", ("gross", "taxed"))


def body_mass():
    stream = np.random.default_rng(5)
    height = stream.normal(170.0, 10.0, N).round()
    weight = stream.normal(75.0, 12.0, N).round(1)
    index = (weight / (height / 100.0) ** 2).round(2)
    return Case(
        {"weight": weight, "height": height, "bmi": index},
        {"weight": mapped(4.0)},
        0.9,
        "columns in clear",
        ("bmi",),
    )


def running_total():
    stream = np.random.default_rng(6)
    income = incomes(stream)
    table = {"income": income, "so far": np.cumsum(income), "age": stream.integers(18, 90, N)}
    return Case(table, {"income": log()}, 0.9, "rise of so far", ("so far",))


def month_before():
    """The value of the month before stands in the next row."""
    stream = np.random.default_rng(7)
    income = incomes(stream)
    table = {"income": income, "before": np.append(incomes(stream, 1), income[:-1])}
    return Case(table, {"income": log()}, 0.9, "before of the record after", ("before",))


def panel():
    firm, month, revenue = firms(np.random.default_rng(8))
    table = {"revenue": revenue, "firm": firm, "month": month}
    return Case(table, {"revenue": log(0.3)}, refused="noise is too narrow", same=firm)


def keys_in_one_number():
    firm, month, revenue = firms(np.random.default_rng(9))
    table = {"revenue": revenue, "id": firm * 100 + month}
    return Case(table, {"revenue": log(0.3)}, refused="too narrow", same=firm)


def keys_in_text():
    firm, month, revenue = firms(np.random.default_rng(10))
    key = np.array([f"H{a}-{b:02d}" for a, b in zip(firm, month, strict=True)])
    table = {"revenue": revenue, "key": key}
    return Case(table, {"revenue": log(0.3)}, refused="too narrow", same=firm)


def street_and_house():
    """Two columns name a household together, neither of them alone."""
    firm, _, income = firms(np.random.default_rng(11), size=4)
    table = {"income": income, "street": firm // 25, "house": firm % 25}
    return Case(table, {"income": log(0.2)}, refused="too narrow", same=firm)


def twins():
    """Records stand twice, with the same columns in clear but for rounding."""
    stream = np.random.default_rng(12)
    income = incomes(stream, N // 2)
    age = stream.normal(45.0, 12.0, N // 2)
    height = stream.normal(170.0, 10.0, N // 2)
    order = stream.permutation(N)
    table = {"income": np.tile(income, 2), "age": np.tile(age, 2), "height": np.tile(height, 2)}
    table = {name: column[order] for name, column in table.items()}
    table["age"] = table["age"] + stream.normal(0.0, 0.001, N)
    return Case(table, {"income": log(0.1)}, refused="too narrow", same=order % (N // 2))


def alike_neighbours():
    """Rows lie in an order that is seen in no column."""
    stream = np.random.default_rng(13)
    wave = np.repeat(stream.normal(0.0, 1.0, N // 8), 8)
    table = {"income": np.exp(8.0 + 0.6 * wave + stream.normal(0.0, 0.05, N)).round()}
    table["age"] = stream.integers(18, 90, N)
    return Case(table, {"income": log(0.3)}, refused="too narrow", same=np.arange(N) // 8)


def ten_that_say_the_same():
    stream = np.random.default_rng(14)
    level = stream.normal(8.0, 0.8, N)
    table = {f"y{k}": np.exp(level + stream.normal(0.0, 0.1, N)).round() for k in range(10)}
    return Case(table, {name: log(0.3) for name in table}, refused="too narrow", same=np.arange(N))


def three_apart():
    stream = np.random.default_rng(15)
    table = {f"y{k}": incomes(stream) for k in range(3)}
    return Case(table, {name: log() for name in table})


def additive():
    stream = np.random.default_rng(16)
    table = {"income": incomes(stream), "age": stream.integers(18, 90, N)}
    return Case(table, {"income": cm.ConditionalMasking(0.6, 1_000.0, decimals=0)})


def tax_rates():
    """Of the six amounts that a tax leaves possible, one alone is shown."""
    stream = np.random.default_rng(17)
    net = stream.lognormal(6.0, 0.9, N).round(2)
    table = {
        "net": net,
        "tax": (net * stream.choice([0.05, 0.07, 0.1, 0.13, 0.19, 0.25], N)).round(2),
    }
    return Case(table, {"net": log(0.45)}, 0.70, "reveal which record", ("tax",))


def last_digits():
    """A reference ends as its amount does."""
    stream = np.random.default_rng(18)
    amount = stream.lognormal(6.0, 0.9, N).round(2)
    ends = np.rint(100.0 * amount).astype(int) % 10_000
    reference = np.array(
        [f"RF{a:05d}-{b:04d}" for a, b in zip(stream.integers(0, 10**5, N), ends, strict=True)]
    )
    return Case(
        {"amount": amount, "reference": reference},
        {"amount": log(0.45)},
        0.85,
        "reveal which record",
        ("reference",),
    )


def profit():
    """A swapped record shows the revenues and the costs of one firm, whose profit is in clear."""
    stream = np.random.default_rng(19)
    revenue = stream.lognormal(6.0, 0.8, N).round(2)
    costs = (revenue * (1.0 - stream.normal(0.05, 0.12, N))).round(2)
    table = {"revenue": revenue, "costs": costs, "profit": (revenue - costs).round(2)}
    return Case(
        table,
        dict.fromkeys(("revenue", "costs"), log(0.25)),
        0.65,
        "reveal which record",
        ("profit",),
    )


def effects(stream, groups, size=10, within=0.4):
    """Records of groups in no order, and what is alike within each."""
    group = stream.integers(0, groups, groups * size)
    level = stream.normal(0.0, 1.0, groups)[group] + within * stream.normal(0.0, 1.0, group.size)
    return group, np.exp(5.0 + 0.6 * level).round(2)


def firm_inside_text():
    stream = np.random.default_rng(20)
    firm, amount = effects(stream, N // 10)
    name = np.array(
        ["".join(letters) for letters in stream.choice(list("abcdefghij"), (N // 10, 8))]
    )[firm]
    verb = stream.choice(["invoice from", "payment to", "reminder of"], N)
    text = np.array(
        [
            f"{a} {b} no {c}"
            for a, b, c in zip(verb, name, stream.integers(0, 10**6, N), strict=True)
        ]
    )
    return Case({"amount": amount, "text": text}, {"amount": log(0.2)}, 0.17, "too narrow")


def branch_in_last_digits():
    stream = np.random.default_rng(21)
    branch, amount = effects(stream, N // 10)
    table = {"amount": amount, "id": 100 + branch + 1_000 * stream.integers(0, 10_000, N)}
    return Case(table, {"amount": log(0.2)}, 0.19, "too narrow")


def earlier_case():
    """Cases name the one before by its number."""
    stream = np.random.default_rng(22)
    length = 20
    steps = stream.normal(0.0, 0.3, (N // length, length))
    steps[:, 0] = stream.normal(0.0, 1.0, N // length)
    number = stream.permutation(10**6)[:N]
    before = np.where(np.arange(N) % length == 0, -1, np.roll(number, 1))
    order = stream.permutation(N)
    table = {"score": steps.cumsum(axis=1).ravel().round(4), "case": number, "before": before}
    table = {name: column[order] for name, column in table.items()}
    return Case(table, {"score": mapped(0.4)}, 0.18, "too narrow")


def machines_in_turn():
    stream = np.random.default_rng(23)
    walk = np.cumsum(stream.normal(0.0, 0.25, (N // 10, 10)), axis=0)
    value = ((walk - walk.mean(axis=0)) / walk.std(axis=0)).ravel() + stream.normal(0.0, 0.02, N)
    table = {"temperature": value.round(4), "volt": stream.normal(0.0, 1.0, N).round(3)}
    return Case(table, {"temperature": mapped(0.3)}, 0.32, "too narrow")


def weeks():
    stream = np.random.default_rng(24)
    hour = np.arange(N)
    load = stream.normal(0.0, 1.0, 168)[hour % 168] + 0.35 * stream.normal(0.0, 1.0, hour.size)
    return Case({"load": load.round(4), "hour": hour}, {"load": mapped(0.3)}, 0.21, "too narrow")


def growth():
    """Rates of growth carry on what other years of a firm show."""
    stream = np.random.default_rng(25)
    years = 20
    rate = 0.35 * stream.normal(0.0, 1.0, (N // years, years))
    rate[:, 0] = 0.0
    level = stream.normal(6.0, 1.0, (N // years, 1)) + rate.cumsum(axis=1)
    table = {"sales": np.exp(level).round(3).ravel(), "growth": np.expm1(rate).round(4).ravel()}
    table |= {
        "firm": np.repeat(np.arange(N // years), years),
        "year": np.tile(np.arange(years), N // years),
    }
    order = stream.permutation(N)
    return Case(
        {name: column[order] for name, column in table.items()},
        {"sales": log(0.7)},
        0.30,
        "too narrow",
    )


def coordinates():
    """Towns are known by two columns of many."""
    stream = np.random.default_rng(26)
    town, rent = effects(stream, N // 10, within=0.3)
    place = stream.uniform(0.0, 100.0, (N // 10, 2))[town] + stream.normal(0.0, 0.15, (N, 2))
    table = {"rent": rent, "north": place[:, 0].round(3), "east": place[:, 1].round(3)}
    table |= {f"other {k}": stream.normal(0.0, 1.0, N).round(3) for k in range(6)}
    return Case(table, {"rent": log(0.2)}, 0.19, "too narrow")


def prices():
    """A product has one price, and quantities are in clear, of which some are zero."""
    stream = np.random.default_rng(27)
    product = stream.integers(0, N // 15, N)
    quantity = stream.integers(0, 200, N)
    revenue = (quantity * stream.lognormal(2.0, 1.2, N // 15)[product]).round(2)
    table = {"revenue": revenue, "product": product, "quantity": quantity}
    return Case(table, {"revenue": log(0.3)}, 0.45, "too narrow")


def others_of_the_firm():
    """What a firm of any size pays the others on average lacks what it pays each, and tells all
    values."""
    stream = np.random.default_rng(28)
    firm = stream.integers(0, N // 10, N)
    pay = incomes(stream)
    others = (
        (np.bincount(firm, pay)[firm] - pay) / np.maximum(np.bincount(firm)[firm] - 1, 1)
    ).round(2)
    return Case(
        {"pay": pay, "firm": firm, "others": others},
        {"pay": mapped(600.0)},
        0.9,
        "others of others in firm",
    )


def sorted_by_a_sum():
    """The total was dropped, and the rows are in its order."""
    stream = np.random.default_rng(29)
    wage = incomes(stream)
    rent = incomes(stream)
    order = np.argsort(wage + rent)
    return Case(
        {"wage": wage[order], "rent": rent[order]}, {"wage": log()}, 0.6, "columns in clear"
    )


def moving_average():
    """Its rises chain every third value to the one before."""
    income = incomes(np.random.default_rng(33))
    smooth = np.append([np.nan, np.nan], np.convolve(income, np.ones(3) / 3.0, "valid")).round(1)
    return Case({"income": income, "smooth": smooth}, {"income": log()}, 0.9, "columns in clear")


def moving_averages_by_date():
    """The same within firms, whose rows stand apart."""
    months = 80
    number = N // 80
    income = incomes(np.random.default_rng(34)).reshape(months, number)
    smooth = np.vstack(
        (
            np.full((6, number), np.nan),
            np.lib.stride_tricks.sliding_window_view(income, 7, 0).mean(2),
        )
    )
    month, firm = np.indices(income.shape).reshape(2, N)
    table = {
        "income": income.ravel(),
        "smooth": smooth.ravel().round(1),
        "month": month,
        "firm": firm,
    }
    return Case(table, {"income": log()}, 0.3, "too narrow")


def average_of_marks():
    """One mark follows from the others, their weights and the average."""
    stream = np.random.default_rng(35)
    marks = stream.integers(40, 100, (4, N))
    weights = stream.integers(1, 9, (4, N))
    table = {f"mark {k}": mark for k, mark in enumerate(marks)} | {
        f"weight {k}": w for k, w in enumerate(weights)
    }
    table["average"] = ((marks * weights).sum(axis=0) / weights.sum(axis=0)).round(1)
    return Case(table, {"mark 0": mapped(8.0)}, 0.95, "columns in clear", ("average",))


def margin():
    """What is left of a share is costs."""
    stream = np.random.default_rng(36)
    revenue = incomes(stream)
    costs = (revenue * stream.uniform(0.4, 0.95, N)).round()
    table = {"revenue": revenue, "costs": costs, "margin": (1.0 - costs / revenue).round(3)}
    return Case(table, {"revenue": log()}, 0.95, "columns in clear", ("costs",))


def meter():
    """A reading adds up the means of two values of a machine, whose rows stand apart:
    trapezoids."""
    load = incomes(np.random.default_rng(37)).reshape(40, N // 40)
    reading = np.vstack((np.zeros(N // 40), np.cumsum((load[1:] + load[:-1]) / 2.0, axis=0)))
    hour, machine = np.indices(load.shape).reshape(2, N)
    table = {"load": load.ravel(), "reading": reading.ravel(), "hour": hour, "machine": machine}
    return Case(table, {"load": log()}, 0.55, "columns in clear")


def mostly_zero():
    stream = np.random.default_rng(30)
    bonus = np.where(stream.random(N) < 0.85, 0.0, incomes(stream))
    near = (bonus * stream.normal(1.0, 0.005, N)).round()
    return Case(
        {"bonus": bonus, "near": near},
        {"bonus": mapped(400.0)},
        0.98,
        "columns in clear",
        ("near",),
    )


def inside_records():
    """A column of records holds a copy."""
    pay = incomes(np.random.default_rng(31))
    kept = np.array([{"pay": int(value), "by": "card"} for value in pay])
    return Case({"pay": pay, "kept": kept}, {"pay": log()}, 0.9, "pay = kept", ("kept",))


CASES = (
    harmless,
    correlated,
    total,
    near_copies,
    body_mass,
    running_total,
    month_before,
    panel,
    keys_in_one_number,
    keys_in_text,
    street_and_house,
    twins,
    alike_neighbours,
    ten_that_say_the_same,
    three_apart,
    additive,
    tax_rates,
    last_digits,
    profit,
    firm_inside_text,
    branch_in_last_digits,
    earlier_case,
    machines_in_turn,
    weeks,
    growth,
    coordinates,
    prices,
    others_of_the_firm,
    sorted_by_a_sum,
    mostly_zero,
    inside_records,
    moving_average,
    moving_averages_by_date,
    average_of_marks,
    margin,
    meter,
)
