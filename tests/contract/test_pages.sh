#!/bin/sh
# The public headers and the man page say what functions.def says, and it has every function.
# usage: test_pages.sh BUILD_DIRECTORY
set -u
. tests/tap.sh

# The headers that are installed, by the Makefile.
headers=$(env -u MAKEFLAGS -u MAKELEVEL -u MODE make -s print-PUBLIC_HEADERS)
says() {
	# shellcheck disable=SC2086
	python3 tests/contract/pages.py "$1" "$build/tests/contract/test_contract" $headers
}
build=$1
holds "functions.def has the functions of the public headers" says headers
holds "affinity/schedbench.symbols has those that are not inline" says symbols
holds "the comment of each function says who may call it" says callers
holds "it names the errors of the table" says errors
holds "the man page has the table" says man

# The tests of the contract know nothing but the interface.
public() {
	! grep -nE '^#include "(core|affinity|workloads|results|harness)/' tests/contract/*.[ch] |
		grep -v '"affinity/schedbench\.h"'
}
holds "the tests of the contract include public headers only" public
echo "1..$n"
