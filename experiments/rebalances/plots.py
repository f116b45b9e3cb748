from experiments.experiment import Measured


def plots(measured: Measured) -> dict[str, str]:
    return {}
