// SPDX-License-Identifier: Apache-2.0

package pigment

import "encoding/json"

// Metadata is that of a record or of a collection: texts, bools, integers, floats, and of records also lists of one of these. What comes
// from the library is string, bool, int64, float64 and []any of these; what goes there may be of any type of such a kind, and a nil value
// deletes its key in update and upsert. A float stays a float: float64(2) is 2.0, not 2. In collections with [Configuration].NestedMetadata
// values may be maps with keys of texts; they come back as map[string]any.
type Metadata map[string]any

// MarshalJSON prints the metadata as the library gets it, keys in order.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	return appendJSON(nil, map[string]any(m))
}

// UnmarshalJSON reads what the library gives.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	value, err := parseJSON(raw)
	if err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		*m = nil
	case map[string]any:
		*m = v
	default:
		return invalid(DetailMetadata, -1, "metadata is no object: %.100s", raw)
	}
	return nil
}

// The text of metadata that is given as a map or as JSON; nil is absent.
func metadataText(values Metadata, raw json.RawMessage, row int) (json.RawMessage, error) {
	if values == nil {
		return raw, nil
	}
	if raw != nil {
		return nil, invalid(DetailMetadata, row, "metadata is given twice, as a map and as JSON")
	}
	text, err := values.MarshalJSON()
	if err != nil {
		return nil, invalid(DetailMetadata, row, "metadata: %v", err)
	}
	return text, nil
}
