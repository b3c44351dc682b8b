"""A training of plain Python: a straight line is fitted to noisy points, with batches that come late now and then."""

import random
import time

LEARNING_RATE = 0.05


def batches(count, size=400):
    """Points of the line y = 3 x + 1, with noise; every fourth batch takes long to come."""
    random.seed(1)
    for number in range(count):
        time.sleep(0.012 if number % 4 == 3 else 0.001)
        yield [(x, 3 * x + 1 + random.gauss(0, 0.1)) for x in (random.uniform(-1, 1) for _ in range(size))]


class Line:
    """y = slope x + offset."""

    def __init__(self):
        self.slope = self.offset = 0.0

    def train_step(self, points):
        """Moves both a little towards the points; returns the loss."""
        errors = [(x, self.slope * x + self.offset - y) for x, y in points]
        self.slope -= LEARNING_RATE * sum(2 * error * x for x, error in errors) / len(points)
        self.offset -= LEARNING_RATE * sum(2 * error for _, error in errors) / len(points)
        return sum(error * error for _, error in errors) / len(points)


def main():
    """Trains for ten steps."""
    line = Line()
    for points in batches(10):
        loss = line.train_step(points)
    print(f"loss {loss:.3f}")


if __name__ == "__main__":
    main()
