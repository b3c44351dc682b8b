"""The article's third sample: scopes of one's own."""

from megengine import Tensor
from megengine.utils.profiler import Profiler, scope


def main():
    with Profiler():
        x = Tensor(1)
        with scope("Add"):
            y = x + 1
        with scope("Mul"):
            z = x * 3
        try:
            with scope("Raises"):
                raise KeyError("of the script's own")
        except KeyError:
            pass
        with scope("Sub"):
            w = z - y
    return y, z, w


print([int(each.numpy()) for each in main()])
