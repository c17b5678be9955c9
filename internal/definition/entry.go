package definition

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Entry returns what [Audience.JSON] or [Trait.JSON] returned as a workspace file has it:
// an element of the section's list, one condition a line, without what is the default. It
// says the same, and can be put into a file in the place of another.
func Entry(written []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(written, &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("definition %.80q: expected a JSON object", written)
	}
	m := doc.Content[0]
	rows := TraitRows()
	if under(m, "when") != nil {
		rows = AudienceRows()
	}
	dropDefaults(m, rows)
	plain(m)
	arrange(m, func(key string) int { return slices.IndexFunc(rows, func(r Row) bool { return r.Key == key }) })
	m.Style = 0
	if when := under(m, "when"); when != nil {
		unfold(when)
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := encoder.Encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{m}})
	return b.Bytes(), err
}

// under is the value of a key of a mapping, nil when there is none.
func under(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// dropDefaults removes what holds without being said.
func dropDefaults(m *yaml.Node, rows []Row) {
	said := func(key, value string) bool {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Key == key })
		id := under(m, "id")
		return i < 0 || value != rows[i].Initial && (key != "name" || id == nil || value != id.Value)
	}
	kept := m.Content[:0:0]
	for i := 0; i+1 < len(m.Content); i += 2 {
		if key, value := m.Content[i], m.Content[i+1]; value.Kind != yaml.ScalarNode || said(key.Value, value.Value) {
			kept = append(kept, key, value)
		}
	}
	m.Content = kept
}

// plain has all of a tree on one line, and quotes only where they are needed. The members
// of conditions stand in the order in which one says them.
func plain(n *yaml.Node) {
	n.Style = 0
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		plain(child)
	}
	if n.Kind == yaml.MappingNode && under(n, "did") != nil {
		said := []string{"did", "where", "times", "take", "of", "is", "within", "between", "since", "until", "sources", "except_sources"}
		arrange(n, func(key string) int { return slices.Index(said, key) })
	} else if n.Kind == yaml.MappingNode && under(n, "is") != nil {
		arrange(n, func(key string) int { return map[bool]int{true: 1}[key == "is"] })
	}
}

// arrange sorts the members of a mapping by the place that their keys have; those that have
// none stay at the end.
func arrange(m *yaml.Node, place func(key string) int) {
	pairs := slices.Collect(slices.Chunk(m.Content, 2))
	last := func(i int) int {
		if i < 0 {
			return len(pairs) + 1<<10
		}
		return i
	}
	slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int { return cmp.Compare(last(place(a[0].Value)), last(place(b[0].Value))) })
	m.Content = slices.Concat(pairs...)
}

// unfold gives each condition below all, any and not a line of its own.
func unfold(c *yaml.Node) {
	for _, key := range []string{"all", "any", "not"} {
		below := under(c, key)
		if below == nil {
			continue
		}
		c.Style, below.Style = 0, 0
		if below.Kind == yaml.MappingNode {
			below.Style = yaml.FlowStyle
			unfold(below)
			return
		}
		for _, child := range below.Content {
			unfold(child)
		}
	}
}
