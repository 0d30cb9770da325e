"""Settings of the whole suite."""
import os

# A compiled program kept from another run may be another version's.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
