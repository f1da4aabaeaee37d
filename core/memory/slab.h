/*
 * slab.h - what allocating from a pool (pool.c) and giving its memory back
 * (pool_trim.c) share. Owner only.
 */
#ifndef SB_CORE_MEMORY_SLAB_H
#define SB_CORE_MEMORY_SLAB_H

#include "core/memory/pool.h"

#if SB_POOL_IS_WATCHED && SB_VIRTUAL
/* Whoever uses it all the same finds no address there; the first word is the list's. */
#define SB_MARK_FREE(p, n) sb_virtual_spoil((char *)(p) + sizeof(void *), (n) - sizeof(void *))
#define SB_MARK_USED(p, n) ((void)(p), (void)(n))
#elif SB_POOL_IS_WATCHED
#include <sanitizer/asan_interface.h>
#define SB_MARK_FREE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SB_MARK_USED(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define SB_MARK_FREE(p, n) ((void)(p), (void)(n))
#define SB_MARK_USED(p, n) ((void)(p), (void)(n))
#endif

/* Behind the others that wait for their turn: it has not been needed. */
void sb_slab_wait_longer(struct sb_pool *pool, struct sb_slab *slab);

/* Gives the pages of a slab back of which nothing is in use, and that is on no list.
 * False: that is not possible. */
bool sb_slab_discard(struct sb_pool *pool, struct sb_slab *slab);

/* How many objects of a class a slab has. */
size_t sb_slab_objects(size_t class);

/* Puts the objects of a parcel into the free lists of their slabs. */
void sb_parcel_put_all(struct sb_pool *pool, struct sb_parcel *parcel);

/* Takes over the parcels that others have returned. */
void sb_pool_receive(struct sb_pool *pool);

#endif
