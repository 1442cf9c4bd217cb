# SPDX-License-Identifier: Apache-2.0
"""What pgvector's catalog has and ours must have: types, functions, aggregates, operators, casts, btree classes."""

# What it has for its own index methods alone, and no user calls.
PRIVATE = r"^(hnsw|ivfflat)|_(l2_squared|spherical)_distance$"

# Differs on purpose: (what, name) to reason.
DIFFERENT = {
    ("selectivity", "<>"): "pgvector estimates <> as it does =, which is the share of rows that are not returned",
    ("support", "sum"): "pgvector adds up in the type's own precision, we in double precision",
}

TYPES = """
SELECT typname, typlen, typbyval, typcategory, typispreferred, typalign, typstorage, typmodin <> 0, typmodout <> 0, typsend <> 0
FROM pg_type WHERE typnamespace = %s::regnamespace AND typtype = 'b' AND typcategory <> 'A'
"""
FUNCTIONS = """
SELECT proname, pg_get_function_identity_arguments(oid), pg_get_function_result(oid), prokind, provolatile, proisstrict, proparallel,
	proleakproof, prosecdef
FROM pg_proc WHERE pronamespace = %s::regnamespace AND proname !~ %s
"""
OPERATORS = """
SELECT oprname, format_type(oprleft, NULL), format_type(oprright, NULL), format_type(oprresult, NULL), (SELECT proname FROM pg_proc p WHERE p.oid = oprcode),
	coalesce((SELECT oprname FROM pg_operator c WHERE c.oid = o.oprcom), ''),
	coalesce((SELECT oprname FROM pg_operator n WHERE n.oid = o.oprnegate), ''),
	CASE oprname WHEN '<>' THEN '' ELSE oprrest::regproc || ' ' || oprjoin::regproc END, oprcanmerge, oprcanhash
FROM pg_operator o WHERE oprnamespace = %s::regnamespace
"""
CASTS = """
SELECT format_type(castsource, NULL), format_type(casttarget, NULL), (SELECT proname FROM pg_proc p WHERE p.oid = castfunc), castcontext, castmethod
FROM pg_cast WHERE EXISTS (SELECT FROM pg_type WHERE oid IN (castsource, casttarget) AND typnamespace = %s::regnamespace)
"""
AGGREGATES = """
SELECT p.oid::regprocedure::text, aggcombinefn <> 0, aggkind, proparallel
FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE pronamespace = %s::regnamespace
"""
CLASSES = """
SELECT opcname, format_type(opcintype, NULL), opcdefault,
	(SELECT string_agg(amopstrategy || amopopr::regoperator::text, ' ' ORDER BY amopstrategy) FROM pg_amop WHERE amopfamily = opcfamily),
	(SELECT string_agg(amprocnum || amproc::regprocedure::text, ' ' ORDER BY amprocnum) FROM pg_amproc WHERE amprocfamily = opcfamily)
FROM pg_opclass WHERE opcnamespace = %s::regnamespace AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree')
"""
PARTS = (
    ("types", TYPES, 3), ("functions", FUNCTIONS, 90), ("operators", OPERATORS, 40), ("casts", CASTS, 20),
    ("aggregates", AGGREGATES, 4), ("btree operator classes", CLASSES, 3),
)


def compare(tap, connection):
    for name, query, at_least in PARTS:
        parts = {}
        for schema in ("theirs", "ours"):
            # Names are printed without schema, so that they can be equal.
            connection.execute(f"SET search_path = {schema}")
            parameters = (schema, PRIVATE) if query is FUNCTIONS else (schema,)
            parts[schema] = set(connection.execute(query, parameters).fetchall())
        missing = sorted(parts["theirs"] - parts["ours"], key=str)
        tap.check(
            not missing and len(parts["theirs"]) >= at_least, f"catalog: {len(parts['theirs'])} {name} of pgvector's are there",
            [f"only pgvector has {row}" for row in missing])
        for row in sorted(parts["ours"] - parts["theirs"], key=str):
            print(f"# beyond pgvector: {name}: {row[:3]}")
    connection.execute("SET search_path = theirs")
    for (_, name), reason in DIFFERENT.items():
        print(f"# differs on purpose: {name}: {reason}")
