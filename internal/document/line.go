package document

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Line returns the line of what stands at a path of plain keys and indexes, such as
// "audiences[3].when.all[1]"; of what is nearest to it on the way, where nothing does.
func Line(root *yaml.Node, path string) int {
	line, node := root.Line, root
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' }) {
		if node = child(node, step); node == nil {
			break
		}
		line = node.Line
	}
	return line
}

func child(node *yaml.Node, step string) *yaml.Node {
	digits, isIndex := strings.CutSuffix(step, "]")
	i, err := strconv.Atoi(digits)
	switch {
	case isIndex && node.Kind == yaml.SequenceNode && err == nil && i < len(node.Content):
		return node.Content[i]
	case isIndex || node.Kind != yaml.MappingNode:
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == step {
			return node.Content[i+1]
		}
	}
	return nil
}
