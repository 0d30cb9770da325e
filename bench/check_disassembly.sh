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

# check KERNEL REGISTER TYPE LEAST: at least LEAST fused multiply-adds, all of them on REGISTER.
check() {
    fused=$(objdump -d --no-show-raw-insn --disassemble="$1" "$library" | grep 'vfn\?madd...[ps][sd]' || true)
    on=$(echo "$fused" | grep -c "vfn\?madd...$3 .*%$2" || true)
    off=$(echo "$fused" | grep -vc "vfn\?madd...$3 .*%$2" || true)
    verdict=ok
    if [ "$on" -lt "$4" ] || [ "$off" -gt 0 ]; then
        verdict=FAILED
        status=1
    fi
    printf '%-24s %4d fmadd%s on %s (at least %d), %d others (0): %s\n' "$1" "$on" "$3" "$2" "$4" "$off" "$verdict"
}

for isa in avx512:zmm avx2:ymm; do
    register=${isa#*:}
    isa=${isa%:*}
    for type in f32:ps f64:pd; do
        suffix=${type#*:}
        type=${type%:*}
        check "sweep_dense_${type}_$isa" "$register" "$suffix" 50
        check "tile_add_${type}_$isa" "$register" "$suffix" 12
        for chains in 1 2 4 8 16; do
            check "few_add_${type}_${chains}_$isa" "$register" "$suffix" 8
        done
    done
done
exit $status
