"""Import all schemes of the package, so that `Scheme.from_dict` knows them by their names."""

from condmask.masking.multiplicative import MultiplicativeNoise
from condmask.masking.shuffling import DataShuffling
from condmask.masking.swapping import DataSwapping, RankSwapping
from condmask.publish.additive import AdditiveNoise
from condmask.publish.conditional import ConditionalMasking
from condmask.publish.reverse_mapping import ReverseMapping

OWN_SCHEMES = (
    AdditiveNoise,
    ConditionalMasking,
    DataShuffling,
    DataSwapping,
    MultiplicativeNoise,
    RankSwapping,
    ReverseMapping,
)
