# The same lines from R's msm and truncnorm packages: box,name,rate,mean,outside.  The median of 3 runs
# of 2^14 draws.
arguments <- commandArgs(trailingOnly = TRUE)
draws <- 2^14
packages <- list()
if (requireNamespace("msm", quietly = TRUE))
  packages[["msm::rtnorm"]] <- function(m, s, a, b) msm::rtnorm(draws, m, s, a, b)
if (requireNamespace("truncnorm", quietly = TRUE))
  packages[["truncnorm::rtruncnorm"]] <- function(m, s, a, b) truncnorm::rtruncnorm(draws, a, b, m, s)
for (k in seq(1, length(arguments), 5)) {
  box <- as.numeric(arguments[k + 1:4])
  a <- box[3]
  b <- box[4]
  for (name in names(packages)) {
    set.seed(1)
    x <- NULL
    seconds <- sapply(1:3, function(run) {
      start <- proc.time()[["elapsed"]]
      setTimeLimit(elapsed = 20)
      x <<- tryCatch(packages[[name]](box[1], box[2], a, b), error = function(e) rep(NaN, draws))
      setTimeLimit(elapsed = Inf)
      proc.time()[["elapsed"]] - start
    })
    cat(sprintf("%s,%s,%.0f,%.9g,%d\n", arguments[k], name, draws / median(seconds), mean(x),
                sum(!(x >= a & x <= b))))
  }
}
