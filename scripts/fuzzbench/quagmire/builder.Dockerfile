# The image in which benchmarks are built.
ARG parent_image
FROM $parent_image
COPY libquagmire_engine.a /usr/lib/libquagmire_engine.a
