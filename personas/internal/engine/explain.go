package engine

import "time"

// Node explains a node of an audience's tree, or a computed trait.
type Node struct {
	Text      string // the node in the grammar's words: all, any, not, or what the leaf looks at
	Holds     bool
	Value     []byte    // of a leaf: stable JSON; nil when it has none
	Threshold string    // of a leaf: its test
	FlipsAt   time.Time // when it flips by itself; zero: never
	Children  []Node
}

// Explain says why a user is a member or not, or what a computed trait is made of, at an
// instant. It changes nothing. The error names a key that there is no definition of.
func (c *Catalogue) Explain(p *Profile, key string, now time.Time) (Node, error) {
	return Node{}, nil
}

// Matches reports whether a call counts for a definition: one of its leaves looks at it
// and its filters hold.
func (c *Catalogue) Matches(key string, call *Call) bool { return false }
