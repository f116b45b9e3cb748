"""The experiments that can be run, one file each; `registry.EXPERIMENTS` lists them."""
