// SPDX-License-Identifier: Apache-2.0

package pigment

// A Maybe is a value that need not be given, where its zero means something else than its absence. The zero value is absent.
type Maybe[T any] struct {
	value   T
	present bool
}

// Some gives a value.
func Some[T any](value T) Maybe[T] { return Maybe[T]{value, true} }

// Get gives the value and whether there is one.
func (m Maybe[T]) Get() (T, bool) { return m.value, m.present }
