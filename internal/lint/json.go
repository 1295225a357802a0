package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml/goyaml.v3"
)

// readJSON reads one or more JSON documents, without positions. goyaml reads them, too, but
// takes ten times as long, and the list of a cluster's pods has a hundred megabytes.
func readJSON(text []byte) (documents []*yaml.Node, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, nodeOf("", document, false))
	}
}

// nodeOf converts a value. It keeps kind, apiVersion, what is in a mapping called metadata or
// has a key with a slash, and the mappings and lists around it: the rest is most of a cluster.
// It returns nil for a scalar that is not needed.
func nodeOf(key string, value any, inMetadata bool) *yaml.Node {
	inMetadata = inMetadata || key == "metadata"
	switch value := value.(type) {
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(value)) { // findings have an order
			of := nodeOf(key, value[key], inMetadata)
			if of != nil {
				node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, of)
			}
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range value {
			of := nodeOf("", item, inMetadata)
			if of != nil && (inMetadata || len(of.Content) > 0) {
				node.Content = append(node.Content, of)
			}
		}
		return node
	}
	if !inMetadata && key != "kind" && key != "apiVersion" && !strings.Contains(key, "/") {
		return nil
	}
	tag := "!!null"
	switch value.(type) {
	case string:
		tag = "!!str"
	case json.Number:
		tag = "!!float"
	case bool:
		tag = "!!bool"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: fmt.Sprint(value)}
}
