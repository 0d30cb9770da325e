# Adds up lines `N passed, N failed[, N skipped]`, prints the sum in the same form, and fails if
# anything failed or nothing ran.
/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
    passed += $1
    failed += $3
    skipped += $5
}
END {
    if (passed + failed + skipped == 0)
        failed = 1
    printf "%d passed, %d failed", passed, failed
    if (skipped)
        printf ", %d skipped", skipped
    printf "\n"
    exit failed > 0
}
