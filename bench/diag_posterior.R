# Our diagnostics beside those of R's posterior, in one run, on the same draws: seconds of CPU time
# for 1,000 variables on one thread, and the largest relative difference of any number.  posterior gets both
# its default columns (which have mad, and not ours of the Monte Carlo errors) and exactly ours.
#
#     Rscript bench/diag_posterior.R build/bench/bench/diag_bench [VARIABLES [TIMED_IN_R [ROUNDS]]]
suppressMessages(library(posterior))

arguments <- commandArgs(trailingOnly = TRUE)
program <- arguments[1]
number <- function(k, default) if (length(arguments) >= k) as.integer(arguments[k]) else default
variables <- number(2, 5000L)
in_r <- min(number(3, 250L), variables)
rounds <- number(4, 3L)
chains <- 4L
draws <- 1000L

draws_file <- tempfile(fileext = ".bin")
columns_file <- tempfile(fileext = ".csv")
ours <- c("mean", "sd", "mcse_mean", "mcse_sd", "q5", "median", "q95", "ess_bulk", "ess_tail", "rhat")

run <- function(...) {
  said <- system2(program, as.character(c(...)), stdout = TRUE)
  if (!is.null(attr(said, "status"))) stop(program, " failed")
  if (length(said) > 0) as.numeric(strsplit(said, " ")[[1]])
}
cpu_time <- function(code) sum(system.time(code)[c("user.self", "sys.self")])

in_default_columns <- function(x) summarise_draws(x)
in_our_columns <- function(x) {
  summarise_draws(x, mean, sd, mcse_mean, mcse_sd, ~ quantile2(.x, c(0.05, 0.5, 0.95)),
                  ess_bulk, ess_tail, rhat)
}

compare <- function(phi) {
  run("make", phi, variables, chains, draws, draws_file)
  values <- readBin(draws_file, "double", chains * draws * in_r)
  x <- as_draws_array(array(values, c(draws, chains, in_r)))
  time <- list(one = c(), default = c(), same = c())
  gain <- c()
  for (round in seq_len(rounds)) {
    one <- run("time", draws_file, variables, chains, draws, 1, columns_file)
    two <- run("time", draws_file, variables, chains, draws, 2, columns_file)
    time$one <- c(time$one, one[1])
    gain <- c(gain, one[2] / two[2])
    time$default <- c(time$default, cpu_time(in_default_columns(x)))
    time$same <- c(time$same, cpu_time(theirs <- in_our_columns(x)))
  }
  seconds <- sapply(time, median) * 1000 / c(variables, in_r, in_r)
  columns <- read.csv(columns_file, header = FALSE, nrows = in_r)
  names(theirs)[names(theirs) == "q50"] <- "median"
  difference <- max(abs(as.matrix(columns) / as.matrix(theirs[, ours]) - 1)[, -1])
  mean_difference <- max(abs(columns[[1]] - theirs$mean) / theirs$sd)
  cat(sprintf("| %s | %.3f | %.2f | %.2f | %.0f | %.0f | %.2f | %.1e |\n",
              if (phi == 0) "independent" else paste("AR(1)", phi), seconds[1], seconds[2],
              seconds[3], seconds[2] / seconds[1], seconds[3] / seconds[1], median(gain),
              max(difference, mean_difference)))
}

cat(sprintf("posterior %s, %s; %d chains of %d draws; %d variables, %d of them in R; medians of %d\n\n",
            packageVersion("posterior"), R.version.string, chains, draws, variables, in_r, rounds))
cat("| draws | ours, s per 1,000 variables | posterior, its columns | posterior, our columns |",
    "ratio | ratio, our columns | gain of 2 threads by the clock | largest difference |\n|---|---|---|---|---|---|---|---|\n")
for (phi in c(0, 0.5, 0.9, 0.99)) compare(phi)
invisible(file.remove(draws_file, columns_file))
