# The same lines from R's tmvtnorm, whose sweeps are the same chain: its autocorrelation time is ours
# (r = 0), and is not measured again.  The median of 3 runs.
suppressMessages(library(tmvtnorm))
line <- function(model, dim, precision, lower, upper, draws) {
  set.seed(1)
  x <- NULL
  start <- if (is.finite(upper)) rep((lower + upper) / 2, dim) else rep(lower + 1, dim)
  seconds <- sapply(1:3, function(run) {
    begin <- proc.time()[["user.self"]]
    x <<- suppressWarnings(rtmvnorm(draws, mean = rep(0, dim), H = precision, lower = rep(lower, dim), upper = rep(upper, dim),
                                    algorithm = "gibbs", start.value = start))
    proc.time()[["user.self"]] - begin
  })
  cat(sprintf("%s,tmvtnorm,%d,%.0f,NaN,%.9g,%d\n", model, dim, dim * draws / median(seconds), mean(x),
              sum(!(x >= lower & x <= upper))))
}
orthant <- function(dim) diag(2, dim) - 2 / (dim + 1)
dims <- c(8, 32, 128, 512)
draws <- c(200000, 50000, 8000, 600)
for (k in 1:4) line("orthant .5", dims[k], orthant(dims[k]), 0, Inf, draws[k])
for (k in 1:4) line("box [-.5 1]", dims[k], orthant(dims[k]), -0.5, 1, draws[k])
chain <- diag(0.625, 1000)
chain[1, 1] <- 0.5625
chain[cbind(1:999, 2:1000)] <- chain[cbind(2:1000, 1:999)] <- -0.1875
line("sparse example as dense", 1000, chain, 0, 2, 200)
line("tail [7 8]", 1, matrix(1), 7, 8, 100000)
line("tail [8.5 inf]", 1, matrix(1), 8.5, Inf, 100000)
line("tail [10 11]", 1, matrix(1), 10, 11, 100000)
