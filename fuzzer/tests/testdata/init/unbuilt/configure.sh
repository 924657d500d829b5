#!/bin/sh
echo "CC = $CC -DBUILT" > Makefile
printf 'libit.a: it.o\n\tar rcs $@ $^\n' >> Makefile
