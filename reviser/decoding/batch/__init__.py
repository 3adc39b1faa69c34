"""Many runs of one model at once: the scheduler of rows, the validity mask, sampling and random numbers as tensors."""
