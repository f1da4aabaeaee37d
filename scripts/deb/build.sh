#!/bin/sh
# Builds the Debian packages of a tarball, and lints them.
# usage: build.sh VERSION TARBALL DIRECTORY
set -eu
version=$1
deb=$3
source=$deb/sched-bench-$version

rm -rf "$deb"
mkdir -p "$deb"
tar -C "$deb" -xzf "$2"
cp -r scripts/deb "$source/debian"
cd "$source"
rm debian/build.sh debian/check.sh
mkdir debian/source
echo '3.0 (native)' >debian/source/format
mail=${DEBEMAIL:-sched-bench@packages.debian.org}
# All that setup.sh installs for a build and that build-essential does not bring.
needs=$(sed -n 's/^build="\(.*\)"$/\1/p' scripts/setup.sh | sed 's/\<\(gcc\|g++\|libc6-dev\|make\) //g; s/ /, /g')
# The text of the licence of hwloc's files, in the form of this file.
sed -n '/^Redistribution/,$p' tests/topologies/COPYING | sed 's/^$/./; s/^/ /' >debian/bsd
sed -i -e '/@BSD@/{r debian/bsd' -e 'd}' debian/copyright
rm debian/bsd
sed -i "s/@MAIL@/$mail/; s/@NEEDS@/$needs/" debian/control

# The newest entry of CHANGELOG.md, and all that is visible in the library.
{
	echo "sched-bench ($version) unstable; urgency=medium"
	awk '/^## / { n++; next } n == 1 && /^- / { sub(/^- /, ""); print "\n  * " $0; next }
		n == 1 && NF { print "    " $0 }' CHANGELOG.md | fold -s -w 76 | sed "s,^\([^ ]\),    \1,"
	printf '\n -- The sched-bench authors <%s>  %s\n' "$mail" "$(date -Ru -r CHANGELOG.md)"
} >debian/changelog
{
	echo 'libschedbench.so.1 libschedbench1 #MINVER#'
	for symbol in SCHEDBENCH_1 $(cat affinity/schedbench.symbols); do
		echo " $symbol@SCHEDBENCH_1 $version"
	done
} >debian/libschedbench1.symbols

dpkg-buildpackage -b -us -uc >../build.log 2>&1 || {
	tail -n 40 ../build.log
	exit 1
}
cd ..
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs --allow-root ./*.changes
ls ./*.deb
