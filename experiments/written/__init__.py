"""The experiments that can be run, one file each; `contents.EXPERIMENTS` lists them."""
