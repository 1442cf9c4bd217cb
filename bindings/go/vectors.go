// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import "unsafe"

// A Number is what a vector may come in as. Every value must be finite and fit a float32, which is what is kept of it.
type Number interface {
	float32 | float64 | int32 | int64
}

// Vectors is a matrix, a vector in each row; the zero value is none. [Flat] and [Rows] make one.
type Vectors struct {
	data      unsafe.Pointer
	rows      int
	dimension int
	dtype     dtype
	wrong     *Error
}

// Flat takes vectors that stand one after another, without copying them; the slice must not change until the calls that use it have
// returned.
func Flat[T Number](values []T, dimension int) Vectors {
	return flat(unsafe.Pointer(unsafe.SliceData(values)), len(values), dimension, dtypeOf[T]())
}

// FlatHalf is Flat for IEEE 754 numbers of 16 bits.
func FlatHalf(values []uint16, dimension int) Vectors {
	return flat(unsafe.Pointer(unsafe.SliceData(values)), len(values), dimension, dtypeF16)
}

// Rows takes one vector from each row and copies them.
func Rows[T Number](rows [][]T) Vectors {
	if rows == nil {
		return Vectors{}
	}
	dimension := 0
	if len(rows) > 0 {
		dimension = len(rows[0])
	}
	values := make([]T, 0, len(rows)*dimension)
	for i, row := range rows {
		if len(row) != dimension {
			return Vectors{wrong: invalid(DetailDimension, i, "inconsistent dimensions: row %d has %d, row 0 has %d", i, len(row), dimension)}
		}
		values = append(values, row...)
	}
	return Vectors{data: dataOf(unsafe.Pointer(unsafe.SliceData(values)), len(values)), rows: len(rows), dimension: dimension, dtype: dtypeOf[T]()}
}

func flat(data unsafe.Pointer, count, dimension int, of dtype) Vectors {
	if data == nil {
		return Vectors{}
	}
	if dimension < 1 || count%dimension != 0 {
		return Vectors{wrong: invalid(DetailDimension, -1, "%d numbers are no vectors of dimension %d", count, dimension)}
	}
	return Vectors{data: dataOf(data, count), rows: count / dimension, dimension: dimension, dtype: of}
}

// Not nil, also where there is nothing.
func dataOf(data unsafe.Pointer, count int) unsafe.Pointer {
	if count == 0 {
		return unsafe.Pointer(&noBytes[0])
	}
	return data
}

func dtypeOf[T Number]() dtype {
	var number T
	switch any(number).(type) {
	case float64:
		return dtypeF64
	case int32:
		return dtypeI32
	case int64:
		return dtypeI64
	}
	return dtypeF32
}

func (v Vectors) c() (C.pigment_vectors, error) {
	if v.wrong != nil {
		copied := *v.wrong // an error belongs to the call that gives it
		return C.pigment_vectors{}, &copied
	}
	return C.pigment_vectors{
		data: v.data, rows: C.size_t(v.rows), dimension: C.size_t(v.dimension), dtype: C.int32_t(v.dtype),
	}, nil
}
