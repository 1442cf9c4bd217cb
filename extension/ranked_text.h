/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ranked_text.h
 *	  Texts that an index ranks by the words of a query (BM25): type bm25query, and what was counted for one.
 */
#ifndef PIGMENT_RANKED_TEXT_H
#define PIGMENT_RANKED_TEXT_H

#include "access/attnum.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "pigment/pigment_host.h"

/*
 * Whoever has one may rank by the index: it is made for those who may read the index's table, and by the planner where a query reads its column.
 */
typedef struct Bm25Query
{
	int32		vl_len_;
	Oid			index;
	int32		grammar;		/* PIGMENT_QUERY_*: what the words are */
	char		words[FLEXIBLE_ARRAY_MEMBER];	/* in the server's encoding, without a zero behind them */
} Bm25Query;

#define DatumGetBm25Query(datum) ((Bm25Query *) PG_DETOAST_DATUM(datum))

static inline int
pig_words_size(const Bm25Query *query)
{
	return (int) (VARSIZE(query) - offsetof(Bm25Query, words));
}

extern Bm25Query *pig_new_bm25query(Oid index, int32 grammar, const char *words, int size);

/*
 * The analyzer of a column of an index, by the options of its operator class; made once for all of one kind, and never freed. The same settings give
 * the same pointer.
 */
extern pigment_text_analyzer *pig_column_analyzer(Relation index, int column);
/* A text as the engine takes it, in UTF-8 where the server knows how: *size bytes, which may be those of the text. */
extern const char *pig_engine_text(const char *bytes, int length, size_t *size);

/* The column of an index of ours whose texts are ranked; -1: there is none. */
extern int	pig_ranked_column(Relation index);

/*
 * A query with what the index counts of it, over its partitions where it has some; the same one for all of a statement that ask with one snapshot.
 * Held until `context` is reset. snapshot NULL: it is shared with nobody.
 */
extern pigment_text_query *pig_hold_text_query(const Bm25Query *query, Snapshot snapshot, MemoryContext context);
/* Whether rows of `index` may be ranked by a query of another: both read texts alike. */
extern bool pig_ranks_alike(Relation index, Oid other);

#endif							/* PIGMENT_RANKED_TEXT_H */
