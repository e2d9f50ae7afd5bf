#!/usr/bin/env python3
"""Prints the structural similarity of two pictures of one size (Wang et al. 2004: luma, Gaussian window, sigma 1.5)."""

import argparse
import sys

import numpy
from PIL import Image

SIGMA, RADIUS = 1.5, 5
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def smooth(plane):
    offsets = numpy.arange(-RADIUS, RADIUS + 1)
    kernel = numpy.exp(-(offsets**2) / (2 * SIGMA**2))
    kernel /= kernel.sum()
    rows = sum(weight * plane[i : plane.shape[0] - 2 * RADIUS + i] for i, weight in enumerate(kernel))
    return sum(weight * rows[:, i : plane.shape[1] - 2 * RADIUS + i] for i, weight in enumerate(kernel))


def similarity(a, b):
    mean_a, mean_b = smooth(a), smooth(b)
    variance_a = smooth(a * a) - mean_a**2
    variance_b = smooth(b * b) - mean_b**2
    covariance = smooth(a * b) - mean_a * mean_b
    return float(
        (
            ((2 * mean_a * mean_b + C1) * (2 * covariance + C2))
            / ((mean_a**2 + mean_b**2 + C1) * (variance_a + variance_b + C2))
        ).mean()
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("a")
    parser.add_argument("b")
    options = parser.parse_args()
    planes = [numpy.asarray(Image.open(path).convert("L"), dtype=numpy.float64) for path in (options.a, options.b)]
    if planes[0].shape != planes[1].shape:
        sizes = " and ".join(f"{plane.shape[1]}x{plane.shape[0]}" for plane in planes)
        sys.exit(f"the pictures differ in size: {sizes}")
    if min(planes[0].shape) <= 2 * RADIUS:
        sys.exit("the pictures are smaller than the window")
    print(f"{similarity(*planes):.4f}")


if __name__ == "__main__":
    main()
