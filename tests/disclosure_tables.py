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
    """The share of values of who knows the coins and takes means of kept records that say the same."""
    key = Key(bytes(16))
    data = {name: made.table[name] for name in made.schemes}
    release = cm.mask_table(data, made.schemes, rng=key, accept_visible_coins=True).data
    swapped = coins_of_table(made.schemes, data, key)
    u = np.log(next(iter(data.values())))
    z = np.mean([np.log(column) for column in release.values()], axis=0)
    number = np.bincount(made.same, ~swapped)
    mean = np.bincount(made.same, np.where(swapped, 0.0, z)) / np.maximum(number, 1)
    mean, told = mean[made.same], number[made.same] > 0
    guess = np.where(told, np.polyval(np.polyfit(mean[told], u[told], 1), mean), np.median(u))
    spread = np.diff(np.quantile(u, (0.1, 0.9)))[0] / 2.563
    return np.mean(np.abs(u - guess) < near * spread)


def mapped(sigma=0.3, **options):
    return cm.ConditionalMasking(0.6, sigma, reverse_mapping=True, aggregate_ends=5, **options)


def log(sigma=0.2, **options):
    return mapped(sigma, scale="log", **options)


def incomes(stream, n=N):
    return stream.lognormal(8.0, 0.6, n).round()


def firms(stream, size=10, within=0.05):
    """Firms of so many months, whose revenues say nearly the same each time; rows in no order."""
    firm = np.repeat(np.arange(N // size), size)
    value = np.exp(np.repeat(stream.normal(8.0, 0.8, N // size), size) + stream.normal(0.0, within, N))
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
    income, bonus = incomes(stream), stream.lognormal(6.0, 0.5, N).round()
    table = {"income": income, "bonus": bonus, "total": income + bonus, "age": stream.integers(18, 90, N)}
    return Case(table, {"income": log()}, 0.9, "income = total - bonus", ("total",))


def near_copies():
    stream = np.random.default_rng(4)
    income = incomes(stream)
    copies = {name: income * np.exp(stream.normal(0.0, 0.05, N)) for name in ("gross", "taxed")}
    return Case(
        {"income": income, **copies}, {"income": log(0.3)}, 0.8, "columns in clear", ("gross", "taxed")
    )


def body_mass():
    stream = np.random.default_rng(5)
    height, weight = stream.normal(170.0, 10.0, N).round(), stream.normal(75.0, 12.0, N).round(1)
    index = (weight / (height / 100.0) ** 2).round(2)
    return Case(
        {"weight": weight, "height": height, "bmi": index}, {"weight": mapped(4.0)}, 0.9, "bmi", ("height",)
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
    return Case(table, {"income": log()}, 0.9, "before of the row after", ("before",))


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
    income, age = incomes(stream, N // 2), stream.normal(45.0, 12.0, N // 2)
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


CASES = (
    harmless, correlated, total, near_copies, body_mass, running_total, month_before, panel,
    keys_in_one_number, keys_in_text, street_and_house, twins, alike_neighbours, ten_that_say_the_same,
    three_apart, additive,
)  # fmt: skip
