# The image in which benchmarks run: the engine is in the harness, and needs nothing else.
FROM gcr.io/fuzzbench/base-image
