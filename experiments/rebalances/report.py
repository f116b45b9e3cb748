from experiments.experiment import Measured


def write(measured: Measured) -> str:
    return f"{len(measured['runs'])} runs"
