# SPDX-License-Identifier: Apache-2.0
#
# An upgrade from each released version gives the same objects, rights and comments as a fresh install, and keeps what
# was there. The released install scripts lie in regress/fixtures.

use strict;
use warnings;
use File::Basename;
use File::Copy;
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init;
$node->start;

# The folder that the server finds the extension in, with the old scripts beside the new ones. A server that knows no
# extension_destdir is a copy of the test's own.
my $library = $node->safe_psql('postgres', q{SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'});
my $share = $node->safe_psql('postgres', q{SELECT setting FROM pg_config WHERE name = 'SHAREDIR'});
my @scripts = glob(dirname(__FILE__) . '/../fixtures/pigment--*.sql');
my $target = "$share/extension";
if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'extension_destdir'}) eq '1')
{
	my $installed = $node->safe_psql('postgres', 'SHOW extension_destdir');
	my $folder = PostgreSQL::Test::Utils::tempdir();
	$target = "$folder$share/extension";
	make_path("$folder$library", $target);
	copy("$installed$library/pigment.so", "$folder$library/pigment.so") or die "no module in $installed$library: $!";
	push @scripts, glob("$installed$share/extension/pigment*");
	$node->append_conf('postgresql.conf', "extension_destdir = '$folder'");
	$node->append_conf('postgresql.conf', "dynamic_library_path = '$folder$library:\$libdir'");
	$node->restart;
}
for my $file (@scripts)
{
	copy($file, "$target/" . basename($file)) or die "$file: $!";
}

my $objects = <<'SQL';
SELECT pg_describe_object(d.classid, d.objid, 0),
	CASE WHEN d.classid = 'pg_proc'::regclass THEN
		(SELECT concat_ws('|', CASE WHEN prokind <> 'a' THEN pg_get_functiondef(p.oid) END, proacl) FROM pg_proc p WHERE p.oid = d.objid) END,
	CASE WHEN d.classid = 'pg_class'::regclass THEN
		(SELECT concat_ws('|', relkind, relacl, relrowsecurity, CASE WHEN relkind = 'v' THEN pg_get_viewdef(c.oid) END,
			(SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull), ',' ORDER BY attnum)
				FROM pg_attribute a WHERE a.attrelid = c.oid AND attnum > 0)) FROM pg_class c WHERE c.oid = d.objid) END,
	obj_description(d.objid, d.classid::regclass::name)
FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'pigment' AND d.deptype = 'e' ORDER BY 1, 2
SQL

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION pigment');
my $fresh = $node->safe_psql('fresh', $objects);
my $current = $node->safe_psql('fresh', q{SELECT extversion FROM pg_extension WHERE extname = 'pigment'});
like($current, qr/^\d+\.\d+\.\d+$/, 'it has a version');
cmp_ok(length $fresh, '>', 10_000, 'a fresh install has objects');

for my $script (glob(dirname(__FILE__) . '/../fixtures/pigment--*.sql'))
{
	my ($version) = $script =~ /pigment--(\d+\.\d+\.\d+)\.sql$/ or next;
	(my $database = "from_$version") =~ tr/./_/;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE EXTENSION pigment VERSION '$version'");
	$node->safe_psql($database, <<'SQL');
SELECT pigment.create_collection('docs');
SELECT pigment.add('docs', ARRAY['a', 'b'], ARRAY['[1,2]', '[3,4]']::vector[]);
SQL
	isnt($node->safe_psql($database, $objects), $fresh, "$version differs from $current");
	$node->safe_psql($database, 'ALTER EXTENSION pigment UPDATE');
	is($node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'pigment'}), $current,
		"$version is updated to $current");
	is($node->safe_psql($database, $objects), $fresh, "$version updated has the objects of a fresh install");
	is($node->safe_psql($database, q{SELECT pigment.contains('docs', ARRAY['a', 'c'])}), '{t,f}', 'what was there is there');
	is($node->safe_psql($database, q{SELECT sum(live_rows) FROM pigment.segments}), '2', 'and its index is listed');
}

# Pending pages of older versions have no hole and all bits of vectors: the one that was begun goes on so, those that follow have a hole and 12 bits a number.
$node->safe_psql('fresh', q{
	CREATE TABLE old (id int, v vector(100));
	CREATE INDEX old_v ON old USING pigment (v) WITH (full_vectors = f32);
	INSERT INTO old SELECT n, array_fill(n, ARRAY[100])::vector FROM generate_series(1, 5) n;
	ALTER INDEX old_v RESET (full_vectors);
});
my $file = $node->data_dir . '/' . $node->safe_psql('fresh', q{SELECT pg_relation_filepath('old_v')});
my ($bounds_place, $special) = (8192 + 12, 8192 - 16);    # of pd_lower and pd_upper in block 1, the first pending page
my $bounds = sub { return join ',', unpack 'S2', substr(slurp_file($file), $bounds_place, 4); };
my $version_of = sub { return unpack 'L', substr(slurp_file($file), 24 + 4, 4); };
my $set_version = sub {
	my ($handle, $version) = @_;
	my $meta = substr(slurp_file($file), 24, 8192 - 24 - 4);
	substr $meta, 4, 4, pack 'L', $version;
	# what hashes begin with, which they did not have
	substr $meta, 8144, 8, "\0" x 8;
	seek $handle, 24, 0;
	print $handle $meta, pack 'L', crc32c($meta);
};
# How entries of a pending page have their vectors: 4 in 16 bits a number, 1 in 12, 0 in 32 (engine/segment/host_pages.h).
my $forms_in = sub {
	my ($block) = @_;
	my $payload = substr(slurp_file($file), 8192 * $block + 24, 8152);
	my $count = unpack 'L', substr($payload, 4, 4);
	return join '', map { unpack('L', substr($payload, unpack('S', substr($payload, 8152 - 4 * $_, 2)) + 8, 4)) >> 29 } 1 .. $count;
};
$node->stop;
isnt($bounds->(), "$special,$special", 'a pending page has a hole');
is($version_of->(), 11, 'a new index has the newest version');
is($forms_in->(1), '00000', 'vectors have all bits where they are to');
open my $handle, '+<:raw', $file or die "$file: $!";
seek $handle, $bounds_place, 0;
print $handle pack 'S2', $special, $special;
$set_version->($handle, 1);
close $handle;
$node->start;
$node->safe_psql('fresh', 'INSERT INTO old SELECT n, array_fill(n, ARRAY[100])::vector FROM generate_series(6, 50) n');
is($node->safe_psql('fresh', q{SELECT live_rows, leaked FROM pigment.check('old_v')}), '50|0', 'rows follow those of an older version');
is($node->safe_psql('fresh', 'SET enable_seqscan = off; SELECT count(*) FROM (SELECT id FROM old ORDER BY v <-> (SELECT v FROM old WHERE id = 3)) x'),
	'50', 'and are found');
$node->stop;
is($bounds->(), "$special,$special", 'the page went on without a hole');
like($forms_in->(1), qr/^0{10,}$/, 'and with all bits');
# the entry that found the old page full was made for it
like($forms_in->(2), qr/^01{10,}$/, 'those that follow have 12 bits a number');
is($version_of->(), 11, 'the index has the newest version then');

# The versions between leave vectors in 16 bits in the page that was begun.
open $handle, '+<:raw', $file or die "$file: $!";
$set_version->($handle, 5);
close $handle;
my $begun = $forms_in->(2);
$node->start;
$node->safe_psql('fresh', 'INSERT INTO old SELECT n, array_fill(n, ARRAY[100])::vector FROM generate_series(51, 150) n');
is($node->safe_psql('fresh', q{SELECT live_rows, leaked FROM pigment.check('old_v')}), '150|0', 'rows follow those of 16 bits');
is($node->safe_psql('fresh', q{SELECT count(*) FROM pigment.differences('old_v')}), '0', 'whose vectors are those of the table');
is($node->safe_psql('fresh', 'SET enable_seqscan = off; SELECT count(*) FROM (SELECT id FROM old ORDER BY v <-> (SELECT v FROM old WHERE id = 3)) x'),
	'150', 'and are found');
$node->stop;
like($forms_in->(2), qr/^${begun}4+$/, 'the page went on with 16 bits a number');
like($forms_in->(3), qr/^41{10,}$/, 'those that follow have 12');
is($version_of->(), 11, 'the index has the newest version again');

# They have no hashes of vectors, so that updates write vectors anew until the index is built anew.
$node->start;
$node->safe_psql('fresh', q{SELECT pigment.merge('old_v'); UPDATE old SET id = id + 1000});
cmp_ok($node->safe_psql('fresh', q{SELECT pending_pages FROM pigment.stats('old_v')}), '>', 1, 'an index of before shares no vectors');
is($node->safe_psql('fresh', q{SELECT count(*) FROM pigment.differences('old_v')}), '0', 'and has those of the table');
$node->safe_psql('fresh', q{VACUUM old; REINDEX INDEX old_v; UPDATE old SET id = id + 1000});
is($node->safe_psql('fresh', q{SELECT pending_pages FROM pigment.stats('old_v')}), '1', 'built anew it does');
is($node->safe_psql('fresh', q{SELECT count(*) FROM pigment.differences('old_v')}), '0', 'and has those of the table');
done_testing();

# Of a page's payload and trailer, as the engine seals it.
sub crc32c
{
	my ($bytes) = @_;
	my $sum = 0xFFFFFFFF;
	for my $byte (unpack 'C*', $bytes)
	{
		$sum ^= $byte;
		$sum = ($sum >> 1) ^ ($sum & 1 ? 0x82F63B78 : 0) for 1 .. 8;
	}
	return $sum ^ 0xFFFFFFFF;
}
