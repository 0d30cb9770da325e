# Counts cmocka's results in the output of `ctest --verbose`, and prints one line a program, the
# output of the programs that failed, the reason of every skip, and the sum.  ctest marks each
# line of test 7 with "7: ", so programs may run at once.  A result counts if it closes a RUN line:
# cmocka repeats the failures at the end.  Tests announced but never closed (a crash) have failed;
# a program that is not cmocka's is one test.

function keep(id, line) {
    output[id] = output[id] line "\n"
}

# One line of output of test `id`.
function read_line(id, line, word) {
    keep(id, line)
    if (line ~ /^\[==========\] .*[Rr]unning [0-9]+ test/) {
        word = line
        sub(/.*[Rr]unning /, "", word)
        announced[id] += word + 0
    } else if (line ~ /^\[ RUN      \] /) {
        running[id] = substr(line, 14)
        said[id] = ""
    } else if (running[id] != "" && line == "[       OK ] " running[id]) {
        ok[id]++
        running[id] = ""
    } else if (running[id] != "" && line == "[  FAILED  ] " running[id]) {
        bad[id]++
        running[id] = ""
    } else if (running[id] != "" && line == "[  SKIPPED ] " running[id]) {
        skipped[id]++
        reasons = reasons "  skipped: " name[id] " " running[id] "\n" \
            (said[id] == "" ? "      (no reason printed)\n" : said[id])
        running[id] = ""
    } else if (running[id] != "") {
        said[id] = said[id] "      " line "\n"
    }
    last[id] = line
}

# ctest's verdict on test `id`.
function close_program(id, verdict, counted) {
    counted = ok[id] + bad[id] + skipped[id]
    if (verdict ~ /Skipped/) {
        skipped[id] = 1
        reasons = reasons "  skipped: " name[id] "\n      " last[id] "\n"
    } else {
        if (announced[id] > counted)
            bad[id] += announced[id] - counted
        if (verdict !~ /Passed/ && !bad[id])
            bad[id] = 1
        if (verdict ~ /Passed/ && !bad[id] && !counted)
            ok[id] = 1
    }
    printf "%-36s %4d passed", name[id], ok[id]
    if (bad[id])
        printf ", %d FAILED (%s)", bad[id], verdict
    if (skipped[id])
        printf ", %d skipped", skipped[id]
    printf "\n"
    if (bad[id])
        printf "%s", output[id]
    passed_all += ok[id]
    failed_all += bad[id]
    skipped_all += skipped[id]
    delete output[id]
    fflush()
}

/^ *Start +[0-9]+: / {
    id = $2 + 0
    name[id] = $3
    next
}
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    id = $0
    sub(/^[^#]*#/, "", id)
    verdict = $0
    sub(/^[^#]*#[0-9]+: [^ ]+ [ .]*/, "", verdict)
    sub(/ +[0-9.]+ sec.*$/, "", verdict)
    gsub(/\*\*\*/, "", verdict)
    close_program(id + 0, verdict)
    next
}
/^[0-9]+: / {
    split($0, part, ":")
    read_line(part[1] + 0, substr($0, length(part[1]) + 3))
    next
}
/^ctest exit status / {
    status = $4
}
/No tests were found/ {
    print
}

END {
    if (reasons != "")
        printf "%s", reasons
    if (passed_all + failed_all + skipped_all == 0) {
        print "no test ran: see " logfile
        failed_all = 1
    }
    if (status != 0 && failed_all == 0) {
        print "ctest exited with status " status ": see " logfile
        failed_all = 1
    }
    printf "%d passed, %d failed", passed_all, failed_all
    if (skipped_all)
        printf ", %d skipped", skipped_all
    printf "\n"
    exit failed_all > 0
}
