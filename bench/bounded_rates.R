# The same lines from R's tmvtnorm, whose sweeps are the same chain: its autocorrelation time is ours
# (r = 0), and is not measured again.  The median of 7 runs, whose draws are not kept: with an old
# result beside the new one every other run collects garbage, and takes half as long again.  Takes the
# model's number, 0 to 11.
number <- as.integer(commandArgs(trailingOnly = TRUE)[1])
suppressMessages(library(tmvtnorm))
line <- function(model, dim, precision, lower, upper, draws) {
  set.seed(1)
  start <- if (is.finite(upper)) rep((lower + upper) / 2, dim) else rep(lower + 1, dim)
  sweep <- function() suppressWarnings(rtmvnorm(draws, mean = rep(0, dim), H = precision, lower = rep(lower, dim),
                                                upper = rep(upper, dim), algorithm = "gibbs", start.value = start))
  seconds <- sapply(1:7, function(run) {
    begin <- proc.time()[["user.self"]]
    sweep()
    proc.time()[["user.self"]] - begin
  })
  x <- sweep()
  cat(sprintf("%s,tmvtnorm,%d,%.0f,NaN,%.9g,%d\n", model, dim, dim * draws / median(seconds), mean(x),
              sum(!(x >= lower & x <= upper))))
}
orthant <- function(dim) diag(2, dim) - 2 / (dim + 1)
dims <- c(8, 32, 128, 512)
draws <- c(200000, 50000, 8000, 600)
k <- number %% 4 + 1
if (number < 4) line("orthant .5", dims[k], orthant(dims[k]), 0, Inf, draws[k])
if (number %in% 4:7) line("box [-.5 1]", dims[k], orthant(dims[k]), -0.5, 1, draws[k])
chain <- diag(0.625, 1000)
chain[1, 1] <- 0.5625
chain[cbind(1:999, 2:1000)] <- chain[cbind(2:1000, 1:999)] <- -0.1875
if (number == 8) line("sparse example as dense", 1000, chain, 0, 2, 200)
if (number == 9) line("tail [7 8]", 1, matrix(1), 7, 8, 100000)
if (number == 10) line("tail [8.5 inf]", 1, matrix(1), 8.5, Inf, 100000)
if (number == 11) line("tail [10 11]", 1, matrix(1), 10, 11, 100000)
