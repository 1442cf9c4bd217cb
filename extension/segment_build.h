/* SPDX-License-Identifier: Apache-2.0 */

/*
 * segment_build.h
 *	  A segment of an index that is being built, by CREATE INDEX or by maintenance: the engine's builder, whose pages go straight to
 *	  free blocks.
 */
#ifndef PIGMENT_SEGMENT_BUILD_H
#define PIGMENT_SEGMENT_BUILD_H

#include "free_pages.h"
#include "pages.h"

typedef struct PigBuild
{
	/* the caller's, before the first segment */
	PigRoom    *room;
	int32		metric;
	uint32		dimension;		/* 0: no row has a vector */
	bool		has_keys;
	uint64		key_seed;
	uint64		vector_seed;	/* of the metapage */
	bool		quick;			/* somebody waits: clusters in place of a graph */
	uint32		threads;		/* that build the index of its vectors; 0 is 1 */
	uint64		vectors_expected;	/* of the next segment, about; 0: nobody knows */
	void		(*beside) (void *arg);	/* called now and then, outside of locks and of this segment; may be NULL */
	void	   *beside_arg;
	bool		rounds;			/* its vectors are rounded, which pigment_host_round_to_halves() must be able to */

	pigment_segment_builder *builder;	/* NULL: no segment is being built */
	uint32		segment;
	bool		has_given_up_index; /* the last one that was finished, for want of memory */
	ErrorData  *error;			/* raised in a callback */
	MemoryContext context;
	MemoryContextCallback release;
} PigBuild;

/* A build of an index, whose builder is freed when `context` is, also after an error. */
extern void pig_build_init(PigBuild *build, Relation index, PigRoom *room, MemoryContext context);
/* Begins a segment; memory_bytes 0: no limit. rows_beside: those that the index has in other segments. */
extern void pig_build_begin(PigBuild *build, uint32 segment, uint64 memory_bytes, uint64 rows_beside);
/* Whether there is room in the segment for one more row. */
extern bool pig_build_has_room(PigBuild *build);
/* Writes what is left of it and tells what the directory is to say. */
extern void pig_build_finish(PigBuild *build, PigSegmentEntry *entry);
/* Lets go of a segment to which no row was added. */
extern void pig_build_abandon(PigBuild *build);
/* Whether vectors of an index are to be rounded where they can be. */
extern bool pig_build_wants_rounding(Relation index);
/* As what vectors of an index are kept, where they can be. */
extern PigElement pig_build_element(Relation index);
/* What one takes in a pending entry: about. */
extern size_t pig_vector_bytes(Relation index, uint32 dimension);
/* What maintenance_work_mem says. */
extern uint64 pig_build_memory(void);
/* Rows whose row pointers fit into so many bytes. */
extern uint64 pig_build_pointers_max(uint64 memory_bytes);
/* Vectors of which so many bytes are enough for a segment with an index that so many threads build. */
extern uint64 pig_build_vectors_max(Relation index, uint32 dimension, uint32 threads, uint64 memory_bytes);
/* Threads for a build or merge that somebody waits for, this one among them. */
extern uint32 pig_build_threads(Relation heap);

#endif							/* PIGMENT_SEGMENT_BUILD_H */
