"""What columns tell of each other, in words: which column is to be mended, and how."""

from condmask.disclosure import relation_causes
from condmask.disclosure.inequalities import Inequality
from condmask.disclosure.relations import Copy


class Total:
    """An identity of three columns."""

    left, names = "gross", ("gross", "tax", "net")
    adds_up, product = True, False

    def __str__(self):
        return "gross = tax + net"


def test_an_identity_with_one_masked_column_gives_it_away():
    cause = relation_causes.of_lone_identity(Total(), 0.9, {"tax"})

    assert (cause.name, cause.share, cause.column) == ("computed", 0.9, "tax")
    holds, computed = "gross = tax + net in 90% of the records", "it can be computed from the others"
    text = f"{holds}, and only 'tax' is masked: {computed}"
    assert (cause.text, cause.remedy) == (text, "leave 'gross' out")
    total = relation_causes.of_lone_identity(Total(), 0.9, {"gross"})
    assert total.remedy == "leave 'gross' out and mask 'tax' and 'net' instead: analysts add the masked parts"
    assert relation_causes.of_lone_identity(Total(), 0.9, {"tax", "net"}) is None


def test_the_remedy_of_an_identity_is_to_drop_what_is_in_clear_or_to_compute_it():
    some = relation_causes.of_identity(Total(), 0.8, 0.6, {"tax", "net"})
    whole = relation_causes.of_identity(Total(), 0.8, 0.6, set(Total.names))

    assert round(some.share, 9) == 0.2
    assert some.remedy == "drop 'gross'"
    assert (some.column, whole.column) == ("tax", "gross")
    assert whole.remedy == "drop 'gross' and compute it from the masked others"


def test_an_inequality_shows_coins_and_cannot_be_computed_from_others():
    net = Inequality(("net",), "gross")

    whole = relation_causes.of_identity(net, 0.8, 0.6, set(net.names))
    assert whole.text.startswith("'net' <= 'gross' holds in swapped records but not in kept ones")
    assert whole.remedy == "pass smaller sigmas, or drop one of them"
    assert relation_causes.of_identity(net, 0.8, 0.6, {"net"}).remedy == "drop 'gross'"


def test_a_pair_is_mended_by_what_is_in_clear_or_by_smaller_noise():
    clear = relation_causes.of_pair("pay", "grade", 0.7, 0.6, clear=True)
    masked = relation_causes.of_pair("pay", "bonus", 0.7, 0.6, clear=False)

    assert (clear.column, masked.column) == ("pay", "bonus")
    assert clear.remedy == "mask within strata by 'grade', or drop it"
    assert masked.remedy == "pass smaller sigmas, or drop one of them"


def test_a_copy_is_masked_with_the_column_or_dropped():
    cause = relation_causes.of_copy(Copy("pay", "pay2", "has the ranks", 0.99))

    assert (cause.name, cause.share, cause.column) == ("copy", 0.99, "pay")
    assert cause.remedy == "mask 'pay2' together with 'pay', or drop 'pay2'"
