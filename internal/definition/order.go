package definition

import (
	"fmt"
	"strings"
)

// Class tells audiences from computed traits, in the words of the calls that tell of them.
type Class string

// The classes there are.
const (
	ClassAudience Class = "audience"
	ClassTrait    Class = "computed_trait"
)

// Ref names a definition.
type Ref struct {
	Class Class
	ID    string
}

// Order returns definitions in an order in which each comes behind all that it refers
// to: what stands before them need not be computed again. References to what is not
// among them are passed over. The error names a cycle.
func Order(audiences []Audience, traits []Trait) ([]Ref, error) {
	refs := make([]Ref, 0, len(audiences)+len(traits))
	for i := range traits {
		refs = append(refs, Ref{ClassTrait, traits[i].ID})
	}
	var err error
	walk := order{audiences: audiences, cycle: func(_ int, _, names string) {
		if err == nil {
			err = fmt.Errorf("audiences lead back to themselves: %s", names)
		}
	}}
	for _, i := range walk.all() {
		refs = append(refs, Ref{ClassAudience, audiences[i].ID})
	}
	return refs, err
}

// order walks audiences along their references, depth first.
type order struct {
	audiences []Audience
	// cycle is told of each reference that closes one: by which audience, where in its
	// tree, and the ids on the way.
	cycle func(from int, at, names string)

	byID  map[string]int
	state []byte // of each audience: not seen, on the way, done
	way   []int
	done  []int
}

const (
	onTheWay byte = iota + 1
	isDone
)

func (o *order) all() []int {
	o.byID, o.state = make(map[string]int, len(o.audiences)), make([]byte, len(o.audiences))
	for i := range o.audiences {
		if _, taken := o.byID[o.audiences[i].ID]; !taken {
			o.byID[o.audiences[i].ID] = i
		}
	}
	for i := range o.audiences {
		o.visit(i)
	}
	return o.done
}

func (o *order) visit(i int) {
	if o.state[i] != 0 {
		return
	}
	o.state[i] = onTheWay
	o.way = append(o.way, i)
	o.audiences[i].When.Leaves(func(at string, l *Leaf) {
		next, known := o.byID[l.Audience]
		switch {
		case l.Audience == "" || !known:
		case o.state[next] == onTheWay:
			o.cycle(i, at, o.names(next))
		default:
			o.visit(next)
		}
	})
	o.way = o.way[:len(o.way)-1]
	o.state[i] = isDone
	o.done = append(o.done, i)
}

// names is the part of the way from an audience on, and back to it.
func (o *order) names(from int) string {
	var ids []string
	for _, i := range o.way {
		if len(ids) > 0 || i == from {
			ids = append(ids, o.audiences[i].ID)
		}
	}
	return strings.Join(append(ids, o.audiences[from].ID), " -> ")
}
