"""Masked diffusion language models, SEDD (absorbing) and MDLM: model, noise, loss, samplers, weights."""
