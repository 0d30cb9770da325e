/* What checkpoints and files of draws know their model by. */
#include "core/hash.h"
#include "model/model.h"

/* Two threads may compute the same number at once; 0 stands for none yet. */
static uint64_t publish(atomic_uint_fast64_t *to, uint64_t hash)
{
    hash = hash == 0 ? 1 : hash;
    atomic_store_explicit(to, hash, memory_order_relaxed);
    return hash;
}

void gbs_model_hashes(const gbs_model *model, uint64_t *precision, uint64_t *location)
{
    gbs_model *const cache = (gbs_model *)model; /* as with sd: the number never changes */
    const int64_t n = model->dim;
    *precision = atomic_load_explicit(&cache->precision_hash, memory_order_relaxed);
    *location = atomic_load_explicit(&cache->location_hash, memory_order_relaxed);
    if (*precision == 0)
        *precision = publish(&cache->precision_hash,
                             gbs_hash_words(GBS_HASH_START, model->precision, n * n, 8));
    if (*location == 0) {
        const uint64_t form = (uint64_t)model->location_kind;
        const uint64_t start = gbs_hash_words(GBS_HASH_START, &form, 1, 8);
        *location = publish(&cache->location_hash, gbs_hash_words(start, model->location, n, 8));
    }
}

uint64_t gbs_constraints_hash(uint64_t hash, const gbs_constraints *rows)
{
    const int64_t entries = rows->start[rows->rows];
    hash = gbs_hash_words(hash, rows->start, rows->rows + 1, 8);
    hash = gbs_hash_words(hash, rows->site, entries, 8);
    hash = gbs_hash_words(hash, rows->value, entries, 8);
    hash = gbs_hash_words(hash, rows->lower, rows->rows, 8);
    return gbs_hash_words(hash, rows->upper, rows->rows, 8);
}

uint64_t gbs_model_hash(const gbs_model *model)
{
    uint64_t part[2];
    if (model == NULL)
        return 0;
    gbs_model_hashes(model, &part[0], &part[1]);
    const int64_t n = model->dim;
    uint64_t hash = gbs_hash_words(GBS_HASH_START, part, 2, 8);
    if (model->fixed != NULL)
        hash = gbs_hash_words(hash, model->fixed, n, 8);
    if (model->lower != NULL)
        hash = gbs_hash_words(gbs_hash_words(hash, model->lower, n, 8), model->upper, n, 8);
    if (model->constraints != NULL)
        hash = gbs_constraints_hash(hash, model->constraints);
    return hash;
}
