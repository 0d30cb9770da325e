#!/bin/sh
# After an installation that is not staged: programs must find libgibbsite.so.0.  Where its folder is
# one that ldconfig searches, its cache is brought up to date, or who may not do that is told to;
# elsewhere the two variables are named that lead there.  Without ldconfig there is no cache.
#
#     tools/after_install.sh BUILD_FOLDER
set -eu
PATH=$PATH:/usr/sbin:/sbin
library=$(sed -n 's|/libgibbsite\.so\.0$||p' "$1/install_manifest.txt")
command -v ldconfig >/dev/null || exit 0
if ! ldconfig -v -N -X 2>/dev/null | sed "s/: .*//" | grep -qxF -e "$library" -e "${library#/usr}"; then
    echo "to use it: export PKG_CONFIG_PATH='$library/pkgconfig' LD_LIBRARY_PATH='$library'"
elif ! ldconfig 2>/dev/null; then
    echo "to use it: run ldconfig as root, so that programs find libgibbsite.so.0"
fi
