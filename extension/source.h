/* SPDX-License-Identifier: Apache-2.0 */

/*
 * source.h
 *	  How the engine reads the pages of an index: callbacks that never jump.
 *
 * A server error inside a callback is kept, the engine unwinds by a status code, and pig_retry() raises the error again. A pending
 * interrupt ends the engine's call with PIGMENT_CANCELLED; pig_retry() serves it and has the call repeated. A source that `serves` serves it itself, and only
 * a cancellation, which is an error, ends the call.
 */
#ifndef PIGMENT_SOURCE_H
#define PIGMENT_SOURCE_H

#include "nodes/bitmapset.h"
#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "pigment/pigment_host.h"

/* The engine holds at most eight pages at a time; of those that are copied, four. */
#define PIG_PINS_MAX 8
#define PIG_COPIES_MAX 4

typedef struct PigPin
{
	const void *page;			/* what the engine was given; NULL: free */
	Buffer		buffer;			/* immutable pages are read in place, under this pin */
	PGAlignedBlock *copy;		/* mutable ones are copied under a share lock */
} PigPin;

typedef struct PigOpenIndex PigOpenIndex;
typedef struct PigSegments PigSegments; /* am.h */

typedef struct PigSource
{
	Relation	index;
	Snapshot	snapshot;		/* of the scan, NULL without one */
	bool		copies;			/* pages may change: copy them */
	bool		serves;			/* interrupts are served by the callbacks: for calls of the engine that cannot be repeated */
	BlockNumber blocks;			/* of the relation when last asked; 0: nobody asked */
	MemoryContext context;		/* long enough for an error */
	ErrorData  *error;			/* raised inside a callback */
	uint8	   *visited;		/* one bit per block that was read, or NULL */
	BlockNumber visited_blocks; /* bits in it */
	PigOpenIndex *open;			/* of pig_hold_segments(), which remembers buffers; or NULL */
	PigPin		pins[PIG_PINS_MAX];
	pigment_page_source callbacks;
} PigSource;

/* `context` must live as long as what is opened on the source; snapshot NULL: none. */
extern void pig_source_init(PigSource *source, Relation index, Snapshot snapshot, bool copies, MemoryContext context);

/* Has pending pages that are read through `pending` find their vectors in these segments. */
extern void pig_source_share(PigSource *pending, const PigSegments *segments);

/* Before a call of the engine that reads segments of pig_hold_segments(): scans of one index share them. */
extern void pig_source_use(PigSource *source);

/* Has pages that are read through it, and copied, pinned by the buffers that had them last, as those of segments are. */
extern void pig_source_remember(PigSource *source, PigOpenIndex *open);

/* Makes room to remember the buffers of all blocks that the relation had when it was asked. */
extern void pig_grow_buffers(PigSource *source);

/* Asks memory for what is likely to be read there soon. Never a fault. */
static inline void
pig_expect_line(const void *address)
{
	__builtin_prefetch(address);
	/* GCC takes what does nothing but this for a function without effects, and drops each call that it does not inline */
	__asm__ volatile("");
}

/* The page in a buffer that nobody holds, for asking memory for it: never to be read for what it says. Its descriptor, at which a pin looks first, is asked for. */
extern const char *pig_likely_page(Buffer buffer);

/* Pins a block, by the buffer that had it last if that is known. */
extern Buffer pig_read_known_buffer(PigSource *source, BlockNumber block);

/* Whether an interrupt waits that CHECK_FOR_INTERRUPTS() would serve now. */
extern bool pig_interrupted(void);

/* In a PG_CATCH block of a callback: keeps the error in `context`, for pig_retry(). See PIG_KEEPING. */
extern ErrorData *pig_keep_error(MemoryContext context);

/*
 * In a callback of the engine: runs an action of the server's, and keeps what it raises in `kept`, a variable that was NULL.
 */
#define PIG_KEEPING(kept, context, action) \
	do { \
		MemoryContext caller_ = CurrentMemoryContext; \
		PG_TRY(); \
		{ \
			action; \
		} \
		PG_CATCH(); \
		{ \
			(kept) = pig_keep_error(context); \
			MemoryContextSwitchTo(caller_); \
		} \
		PG_END_TRY(); \
	} while (0)

/*
 * After a call of the engine: false when it succeeded, true when an interrupt was served and it is to be repeated; otherwise raises the
 * error. *kept: what a callback kept.
 */
extern bool pig_retry(pigment_status status, pigment_error *error, ErrorData **kept);

/* Runs a call of the engine until it succeeds; `error` is the name of its last argument. */
#define PIG_CALL(kept, call) \
	do { \
		pigment_error *error; \
		pigment_status status_; \
		do { \
			error = NULL; \
			status_ = (call); \
		} while (pig_retry(status_, error, kept)); \
	} while (0)

#endif							/* PIGMENT_SOURCE_H */
