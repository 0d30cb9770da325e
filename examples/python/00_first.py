"""Draws from a Gaussian given by its precision, and what they say."""
import numpy as np

import gibbsite

precision = np.array([[2.0, -1.0], [-1.0, 2.0]])
mean = np.array([1.0, 3.0])

print("advice:", gibbsite.info(precision)["advice"])
draws = gibbsite.sample(precision, mean=mean, chains=4, draws=1000, seed=1)
print("draws:", draws.shape, "from seed", draws.seed)
print(gibbsite.summary(draws))
