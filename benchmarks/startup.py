"""What does a user wait for before anything is computed?"""


def timeraw_import():
    return "import condmask"


def timeraw_import_numpy():
    return "import numpy"


def timeraw_first_estimate():
    return """
    import condmask as cm
    cm.ConditionalMasking(0.6, 1.0).estimate([0.5, 1.5, 2.5]).cdf(1.0)
    """
