module github.com/pigment-db/pigment/bindings/go

go 1.24
