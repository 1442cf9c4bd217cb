/* SPDX-License-Identifier: Apache-2.0 */

/*
 * source.c
 *	  How the engine reads the pages of an index: callbacks that never jump.
 */
#include "postgres.h"

#include "compat.h"

#include "engine_error.h"
#include "source.h"

bool
pig_interrupted(void)
{
	return INTERRUPTS_PENDING_CONDITION() && INTERRUPTS_CAN_BE_PROCESSED();
}

ErrorData *
pig_keep_error(MemoryContext context)
{
	ErrorData  *result;

	MemoryContextSwitchTo(context);
	result = CopyErrorData();
	FlushErrorState();
	return result;
}

/*
 * A page that the engine found damaged: its message names block and index.
 */
pg_noreturn static void
raise_damage(pigment_error *error)
{
	char		message[512];

	strlcpy(message, pigment_error_message(error), sizeof(message));
	pigment_error_free(error);
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index is corrupted: %s", message),
			 errhint("Please REINDEX it.")));
	pg_unreachable();
}

bool
pig_retry(pigment_status status, pigment_error *error, ErrorData **kept)
{
	if (kept != NULL && *kept != NULL)
	{
		ErrorData  *edata = *kept;

		*kept = NULL;
		pigment_error_free(error);
		ReThrowError(edata);
	}
	if (status == PIGMENT_OK)
		return false;
	if (status == PIGMENT_DATA_LOSS && error != NULL)
		raise_damage(error);
	if (status != PIGMENT_CANCELLED)
		pig_raise(status, error);
	pigment_error_free(error);
	CHECK_FOR_INTERRUPTS();
	return true;
}

static PigPin *
find_pin(PigSource *source, const void *page)
{
	int			pins = source->copies ? PIG_COPIES_MAX : PIG_PINS_MAX;

	for (int i = 0; i < pins; i++)
		if (source->pins[i].page == page)
			return &source->pins[i];
	return NULL;
}

/*
 * May raise: called with an error handler around.
 */
static void
pin_page(PigSource *source, PigPin *pin, BlockNumber block)
{
	Buffer		buffer;

	if (source->serves)
		pig_vacuum_delay_point();
	/* a link may be damaged, and the relation may have grown */
	if (block >= source->blocks)
	{
		source->blocks = RelationGetNumberOfBlocks(source->index);
		pig_grow_buffers(source);
	}
	if (block >= source->blocks)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" refers to block %u, but has only %u",
						RelationGetRelationName(source->index), block, source->blocks),
				 errhint("Please REINDEX it.")));
	buffer = pig_read_known_buffer(source, block);
	if (source->copies)
	{
		if (pin->copy == NULL)
			pin->copy = MemoryContextAlloc(source->context, sizeof(PGAlignedBlock));
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		memcpy(pin->copy->data, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		pin->page = pin->copy->data;
	}
	else
	{
		pin->buffer = buffer;
		pin->page = BufferGetPage(buffer);
	}
	if (source->snapshot != NULL)
		pig_test_for_old_snapshot(source->snapshot, source->index, (Page) unconstify(void *, pin->page));
}

/*
 * Keeps what pin_page() raises.
 */
static pg_noinline bool
try_pin_page(PigSource *source, PigPin *pin, BlockNumber block)
{
	PIG_KEEPING(source->error, source->context, pin_page(source, pin, block));
	return source->error == NULL;
}

static pigment_status
source_pin(void *context, uint32_t physical, const void **page)
{
	PigSource  *source = (PigSource *) context;
	PigPin	   *pin = find_pin(source, NULL);

	if (!source->serves && pig_interrupted())
		return PIGMENT_CANCELLED;
	/* kept by source_version() */
	if (source->error != NULL)
		return PIGMENT_INTERNAL;
	if (pin == NULL || !try_pin_page(source, pin, physical))
		return PIGMENT_INTERNAL;
	if (source->visited != NULL && physical < source->visited_blocks)
		source->visited[physical / 8] |= (uint8) (1 << (physical % 8));
	*page = pin->page;
	return PIGMENT_OK;
}

static void
source_unpin(void *context, uint32_t physical, const void *page)
{
	PigPin	   *pin = find_pin((PigSource *) context, page);

	if (pin == NULL)
		return;
	if (BufferIsValid(pin->buffer))
		ReleaseBuffer(pin->buffer);
	pin->buffer = InvalidBuffer;
	pin->page = NULL;
}

/*
 * May raise: called with an error handler around.
 */
static void
read_version(PigSource *source, BlockNumber block, uint64 *version)
{
	Buffer		buffer = pig_read_known_buffer(source, block);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	*version = PageGetLSN(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
}

/*
 * Keeps what read_version() raises.
 */
static pg_noinline void
try_read_version(PigSource *source, BlockNumber block, uint64 *version)
{
	PIG_KEEPING(source->error, source->context, read_version(source, block, version));
	if (source->error != NULL)
		*version = 0;
}

/*
 * Each change that is logged gives the page the place of its record. What is not logged leaves it as it is.
 */
static uint64_t
source_version(void *context, uint32_t physical)
{
	PigSource  *source = (PigSource *) context;
	uint64		version = 0;

	if (source->error == NULL && RelationNeedsWAL(source->index))
		try_read_version(source, physical, &version);
	return version;
}

void
pig_source_init(PigSource *source, Relation index, Snapshot snapshot, bool copies, MemoryContext context)
{
	memset(source, 0, sizeof(*source));
	source->index = index;
	source->snapshot = snapshot;
	source->copies = copies;
	source->context = context;
	for (int i = 0; i < PIG_PINS_MAX; i++)
		source->pins[i].buffer = InvalidBuffer;
	source->callbacks.struct_size = sizeof(source->callbacks);
	source->callbacks.pin = source_pin;
	source->callbacks.unpin = source_unpin;
	source->callbacks.version = copies ? source_version : NULL;
	source->callbacks.context = source;
	source->callbacks.name = MemoryContextStrdup(context, RelationGetRelationName(index));
	source->callbacks.name_size = strlen(source->callbacks.name);
}
