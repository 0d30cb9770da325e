#!/bin/sh
# Shows by disassembly that the sweeps are what their names say: every fused multiply-add is on
# whole zmm registers in the AVX-512 kernels and on ymm in the AVX2 ones.  Prints the counts.
#
#     bench/check_disassembly.sh BUILD_FOLDER
set -eu
library=$1/src/libgibbsite.a
status=0

if ! command -v objdump >/dev/null; then
    echo "objdump (binutils) is not installed"
    exit 77
fi
if ! objdump -f "$library" | grep -q elf64-x86-64; then
    echo "these kernels are for x86-64 only"
    exit 77
fi

# check KERNEL REGISTER TYPE: at least 50 fused multiply-adds, all of them on REGISTER.
check() {
    fused=$(objdump -d --no-show-raw-insn --disassemble="$1" "$library" | grep 'vfn\?madd...[ps][sd]' || true)
    on=$(echo "$fused" | grep -c "vfn\?madd...$3 .*%$2" || true)
    off=$(echo "$fused" | grep -vc "vfn\?madd...$3 .*%$2" || true)
    verdict=ok
    if [ "$on" -lt 50 ] || [ "$off" -gt 0 ]; then
        verdict=FAILED
        status=1
    fi
    printf '%-24s %4d fmadd%s on %s (at least 50), %d others (0): %s\n' "$1" "$on" "$3" "$2" "$off" "$verdict"
}

check sweep_dense_f32_avx512 zmm ps
check sweep_dense_f64_avx512 zmm pd
check sweep_dense_f32_avx2 ymm ps
check sweep_dense_f64_avx2 ymm pd
exit $status
