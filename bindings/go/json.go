// SPDX-License-Identifier: Apache-2.0

package pigment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// JSON as the library tells values apart: 1 is an integer and 1.0 a float, in both directions, and bytes that are no UTF-8 stay what they
// are, so that the library refuses them. encoding/json does neither.

// Appends a scalar, a list of such, or a map from texts. What JSON cannot say is an error.
func appendJSON(to []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(to, "null"...), nil
	case string:
		return appendQuoted(to, v), nil
	case bool:
		return strconv.AppendBool(to, v), nil
	case int:
		return strconv.AppendInt(to, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(to, v, 10), nil
	case float64:
		return appendFloat(to, v, 64)
	case map[string]any:
		return appendObject(to, v)
	case json.Number:
		return append(to, v...), nil
	case json.RawMessage:
		return append(to, v...), nil
	case json.Marshaler:
		raw, err := v.MarshalJSON()
		return append(to, raw...), err
	}
	return appendReflected(to, reflect.ValueOf(value))
}

func appendReflected(to []byte, value reflect.Value) ([]byte, error) {
	switch value.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(to, value.Bool()), nil
	case reflect.String:
		return appendQuoted(to, value.String()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(to, value.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(to, value.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return appendFloat(to, value.Float(), value.Type().Bits())
	case reflect.Slice, reflect.Array:
		return appendList(to, value)
	case reflect.Map:
		if value.Type().Key().Kind() == reflect.String {
			return appendMap(to, value)
		}
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return append(to, "null"...), nil
		}
		return appendJSON(to, value.Elem().Interface())
	}
	return to, fmt.Errorf("a value of type %s is no metadata", value.Type())
}

func appendFloat(to []byte, number float64, bits int) ([]byte, error) {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return to, fmt.Errorf("%v is no number of JSON", number)
	}
	begin := len(to)
	to = strconv.AppendFloat(to, number, 'g', -1, bits)
	if !bytes.ContainsAny(to[begin:], ".e") {
		to = append(to, ".0"...)
	}
	return to, nil
}

func appendList(to []byte, list reflect.Value) ([]byte, error) {
	to = append(to, '[')
	for i := range list.Len() {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = appendJSON(to, list.Index(i).Interface()); err != nil {
			return to, err
		}
	}
	return append(to, ']'), nil
}

func appendMap(to []byte, values reflect.Value) ([]byte, error) {
	object := make(map[string]any, values.Len())
	for _, key := range values.MapKeys() {
		object[key.String()] = values.MapIndex(key).Interface()
	}
	return appendObject(to, object)
}

// Keys in order.
func appendObject(to []byte, object map[string]any) ([]byte, error) {
	var room [16]string // enough for most, without an allocation
	keys := slices.AppendSeq(room[:0], maps.Keys(object))
	slices.Sort(keys)
	to = append(to, '{')
	for i, key := range keys {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(appendQuoted(to, key), ':')
		var err error
		if to, err = appendJSON(to, object[key]); err != nil {
			return to, fmt.Errorf("key %q: %w", key, err)
		}
	}
	return append(to, '}'), nil
}

func appendQuoted(to []byte, text string) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	plain := 0 // what is before it was appended
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, text[plain:i]...)
		plain = i + 1
		if c < ' ' {
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			to = append(to, '\\', c)
		}
	}
	return append(append(to, text[plain:]...), '"')
}

// Gives JSON as nil, bool, int64, float64, string, []any and map[string]any. An integer beyond 64 bits is a float64.
func parseJSON(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return typed(value)
}

func typed(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if number, err := v.Int64(); err == nil {
				return number, nil
			}
		}
		return v.Float64()
	case []any:
		for i := range v {
			if v[i], err = typed(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = typed(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
