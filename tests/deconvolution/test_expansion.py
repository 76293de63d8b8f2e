"""Lengths of transforms against SciPy's, which are the next with no prime factor above 5."""

from scipy.fft import next_fast_len

from condmask.deconvolution.expansion import fast_length


def test_a_fast_length_is_the_next_product_of_2_3_and_5():
    lengths = [*range(1, 5000), 65_537, 69_621, 262_145, 1_000_003]

    assert [fast_length(n) for n in lengths] == [next_fast_len(n, real=True) for n in lengths]
