// SPDX-License-Identifier: Apache-2.0

package pigment

import "encoding/json"

// A Configuration says how a collection is indexed; zero fields are defaults. What each parameter does: docs/operations.md.
type Configuration struct {
	HNSW        *HNSW      `json:"hnsw,omitempty"`         // graphs
	SPANN       *SPANN     `json:"spann,omitempty"`        // clusters, instead of graphs
	FullVectors string     `json:"full_vectors,omitempty"` // "f32", or "f16": half the room, rounded when written
	TextIndex   *TextIndex `json:"text_index,omitempty"`   // for SearchText
	// Metadata may have objects, whose paths are keys: docs/filters.md.
	NestedMetadata bool `json:"nested_metadata,omitempty"`
}

// HNSW is a graph's configuration.
type HNSW struct {
	Space          string `json:"space,omitempty"` // "l2" (squared), "cosine", "ip"
	MaxNeighbors   int    `json:"max_neighbors,omitempty"`
	EfConstruction int    `json:"ef_construction,omitempty"`
	EfSearch       int    `json:"ef_search,omitempty"`
	NumThreads     int    `json:"num_threads,omitempty"`
	BatchSize      int    `json:"batch_size,omitempty"`
	SyncThreshold  int    `json:"sync_threshold,omitempty"`
}

// SPANN is a configuration of clusters.
type SPANN struct {
	Space          string `json:"space,omitempty"`
	SearchNprobe   int    `json:"search_nprobe,omitempty"`
	SplitThreshold int    `json:"split_threshold,omitempty"`
}

// A TextIndex ranks documents: docs/text-search.md.
type TextIndex struct {
	Analyzer *Analyzer `json:"analyzer,omitempty"`
	K1       *float64  `json:"k1,omitempty"`
	B        *float64  `json:"b,omitempty"`
}

// An Analyzer makes words of texts.
type Analyzer struct {
	Language  string `json:"language,omitempty"`   // such as "english"; "": words stay as they are
	StopWords any    `json:"stop_words,omitempty"` // true: the list of the language; or a []string
}

// JSON prints the configuration for [CollectionOptions] and [ModifyOptions].
func (c Configuration) JSON() json.RawMessage {
	text, err := json.Marshal(c)
	if err != nil {
		return json.RawMessage(`{"invalid":` + string(appendQuoted(nil, err.Error())) + `}`) // StopWords of a type that JSON has not: refused
	}
	return text
}
