# The same lines from R's msm and truncnorm packages: box,name,rate,mean,outside.  The median of 5 runs
# of 2^16 draws.
arguments <- commandArgs(trailingOnly = TRUE)
draws <- 2^16
packages <- list()
if (requireNamespace("msm", quietly = TRUE))
  packages[["msm::rtnorm"]] <- function(a, b) msm::rtnorm(draws, 0, 1, a, b)
if (requireNamespace("truncnorm", quietly = TRUE))
  packages[["truncnorm::rtruncnorm"]] <- function(a, b) truncnorm::rtruncnorm(draws, a, b, 0, 1)
for (k in seq(1, length(arguments), 3)) {
  a <- as.numeric(arguments[k + 1])
  b <- as.numeric(arguments[k + 2])
  for (name in names(packages)) {
    set.seed(1)
    x <- NULL
    seconds <- sapply(1:5, function(run) {
      start <- proc.time()[["elapsed"]]
      setTimeLimit(elapsed = 20)
      x <<- tryCatch(packages[[name]](a, b), error = function(e) rep(NaN, draws))
      setTimeLimit(elapsed = Inf)
      proc.time()[["elapsed"]] - start
    })
    cat(sprintf("%s,%s,%.0f,%.9g,%d\n", arguments[k], name, draws / median(seconds), mean(x),
                sum(!(x >= a & x <= b))))
  }
}
