// SPDX-License-Identifier: Apache-2.0

// pgvector's Go package, unchanged, against our types: pgx in binary, database/sql in text. Prints TAP.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"
)

var (
	count  int
	failed bool
)

func check(good bool, name string, detail ...any) {
	count++
	if good {
		fmt.Printf("ok %d - %s\n", count, name)
		return
	}
	failed = true
	fmt.Printf("not ok %d - %s\n# %v\n", count, name, detail)
}

func must(err error) {
	if err != nil {
		fmt.Printf("Bail out! %v\n", err)
		os.Exit(1)
	}
}

func pgxBinary(ctx context.Context) {
	connection, err := pgx.Connect(ctx, "")
	must(err)
	defer connection.Close(ctx)
	must(pgxvector.RegisterTypes(ctx, connection))
	_, err = connection.Exec(ctx, "CREATE TABLE go_items (id serial PRIMARY KEY, v vector(3), h halfvec(3), s sparsevec(3))")
	must(err)
	vector := pgvector.NewVector([]float32{1.5, -2, 3})
	half := pgvector.NewHalfVector([]float32{1.5, -2, 3})
	sparse := pgvector.NewSparseVector([]float32{1.5, 0, 3})
	_, err = connection.Exec(ctx, "INSERT INTO go_items (v, h, s) VALUES ($1, $2, $3)", vector, half, sparse)
	must(err)
	var v pgvector.Vector
	var h pgvector.HalfVector
	var s pgvector.SparseVector
	var distance float64
	must(connection.QueryRow(ctx, "SELECT v, h, s, v <-> $1 FROM go_items ORDER BY v <-> $1 LIMIT 1", vector).Scan(&v, &h, &s, &distance))
	check(v.String() == vector.String() && h.String() == half.String() && s.String() == sparse.String() && distance == 0,
		"pgx: three types come back in binary", v, h, s, distance)
	rows := [][]any{}
	for i := range 200 {
		rows = append(rows, []any{pgvector.NewVector([]float32{float32(i), 1, 2})})
	}
	copied, err := connection.CopyFrom(ctx, pgx.Identifier{"go_items"}, []string{"v"}, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return rows[i], nil }))
	must(err)
	var sum pgvector.Vector
	must(connection.QueryRow(ctx, "SELECT sum(v) FROM go_items WHERE h IS NULL").Scan(&sum))
	check(copied == 200 && sum.String() == "[19900,200,400]", "pgx: COPY and sum", copied, sum)
}

func databaseSQL() {
	db, err := sql.Open("pgx", "")
	must(err)
	defer db.Close()
	var v pgvector.Vector
	var distance float64
	must(db.QueryRow("SELECT v, h <=> '[0,1,0]' FROM go_items WHERE v = $1", pgvector.NewVector([]float32{1.5, -2, 3})).Scan(&v, &distance))
	check(v.String() == "[1.5,-2,3]" && math.Abs(distance-(1+2/math.Sqrt(15.25))) < 1e-6, "database/sql: a vector in text", v, distance)
}

func main() {
	pgxBinary(context.Background())
	databaseSQL()
	fmt.Printf("1..%d\n", count)
	if failed {
		os.Exit(1)
	}
}
