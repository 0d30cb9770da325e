#!/bin/sh
# Installs the Debian packages of the groups named, if any is missing; otherwise does nothing and
# asks no server.  As root it calls apt-get, else sudo; with neither it prints the one line to
# run and fails.  Elsewhere than on Debian it leaves the packages to the user.
set -eu

packages_of() {
    case $1 in
    build) echo gcc libc6-dev cmake ninja-build pkgconf libcmocka-dev libnetcdf-dev libzip-dev libjansson-dev \
        liblapacke-dev coinor-libclp-dev ;;
    clang) echo clang ;;
    # From clang 14 on the runtime of libFuzzer is a package of its own, named by clang's version.
    fuzz) clang -dumpversion 2>/dev/null | awk -F. '$1 >= 14 {print "libclang-rt-" $1 "-dev"}' ;;
    install) echo g++ binutils man-db dpkg-dev file ;;
    deb) echo dpkg-dev file ;;
    python) echo python3 python3-venv python3-dev g++ r-base-core r-cran-matrix r-cran-ncdf4 \
        r-cran-posterior ;;
    lint) echo clang clang-format clang-tidy ;;
    coverage) echo gcovr ;;
    bench) echo clang python3 python3-venv ;;
    neon) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libcmocka-dev:arm64 ;;
    bench-scale) echo libopenblas-dev ;;
    bench-diag) echo r-base-core r-cran-posterior ;;
    bench-bounded) echo python3 r-base-core r-cran-tmvtnorm ;;
    bench-truncnorm) echo python3 r-base-core r-cran-msm r-cran-truncnorm ;;
    *)
        echo "install_packages.sh: no group named '$1'" >&2
        exit 2
        ;;
    esac
}

installed() {
    # of a name without an architecture, this machine's: another's may be installed beside it
    case $1 in
    *:*) package=$1 ;;
    *) package=$1:$(dpkg --print-architecture) ;;
    esac
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) ||
        status=$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) # for all architectures
    [ "$status" = installed ]
}

missing=
for group in "$@"; do
    for package in $(packages_of "$group"); do
        installed "$package" || missing="$missing $package"
    done
done

if [ -z "$missing" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "This is not a Debian system: the build needs what Debian calls$missing." >&2
    exit 0
fi

# Packages of another architecture, where Debian does not ask for any yet.
foreign=
case $missing in
*:arm64*) foreign="dpkg --add-architecture arm64 && " ;;
esac
install="${foreign}apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root="sh -c"
elif command -v sudo >/dev/null; then
    as_root="sudo sh -c"
else
    echo "Packages are missing. As root, run:" >&2
    echo "$install" >&2
    exit 1
fi
echo "installing:$missing" >&2
if ! $as_root "export DEBIAN_FRONTEND=noninteractive; $install" >&2; then
    echo "The packages could not be installed. As root, run:" >&2
    echo "$install" >&2
    exit 1
fi
