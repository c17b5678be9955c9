package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// Explanation says why a user is a member of an audience or not, or how a computed trait
// comes about.
type Explanation struct {
	Key    string `json:"key"`
	UserID string `json:"user_id"`
	Member bool   `json:"member"` // of a computed trait: there is a value
	Tree   *Node  `json:"tree"`   // nil: nothing fails, which was all that was asked for
	// AsOf is the clock by which it is so.
	AsOf time.Time `json:"as_of"`
	// Deleted is the number of offsets of the user's partition that retention has deleted:
	// what stood there may have been counted, and its messageIds are not known.
	Deleted int64 `json:"deleted,omitempty"`
}

// Node is a node of a definition's tree.
type Node struct {
	Node       string          `json:"node"` // in the words of the grammar
	Holds      bool            `json:"holds"`
	Value      json.RawMessage `json:"value"` // null: it has none
	Threshold  string          `json:"threshold"`
	FlipsAt    *time.Time      `json:"flips_at"` // when it may flip by itself, at the earliest; null: never
	MessageIDs []string        `json:"message_ids"`
	Children   []*Node         `json:"children"`

	counter *engine.Counter
	latest  instant
}

// Explain explains what holds of a user by what the stage knows. With failing only the
// nodes that keep the user out are in the tree. The error is an [Unknown] for a key or a
// user that there is not. It reads the user's partitions of the changelog and of
// raw-events, for a user of several ids each one's.
func Explain(ctx context.Context, log *Log, key, id string, failing bool) (*Explanation, error) {
	d, err := log.Workspace.find(key)
	if err != nil {
		return nil, err
	}
	if !d.Enabled {
		return nil, fmt.Errorf("%s is disabled: nothing is computed of it", key)
	}
	c, err := engine.Compile(log.Workspace.alone(func(other string) bool { return other == key }))
	if err != nil {
		return nil, err
	}
	u, err := log.user(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if into := u.profile.Redirect; into != "" {
		return nil, fmt.Errorf("%s was merged into %s: ask for %s", id, into, into)
	}
	node, err := c.Explain(u.profile, key, u.now)
	if err != nil {
		return nil, err
	}
	counters := c.Counters(key, u.now)
	out := &Explanation{Key: key, UserID: id, Member: node.Holds, AsOf: u.now}
	out.Tree = treeOf(&node, &counters)
	if !c.Counts(u.profile, key) {
		out.Member, out.Tree = false, withoutID(out.Tree)
	}
	if failing {
		out.Tree = prune(out.Tree, false)
	}
	if out.Tree == nil {
		return out, nil
	}
	out.Deleted, err = log.count(ctx, u, out.Tree)
	return out, err
}

// withoutID is the tree of a user without a user id, where that keeps the user out.
func withoutID(tree *Node) *Node {
	return &Node{Node: "all", MessageIDs: []string{}, Children: []*Node{
		{Node: "anonymous: false", Threshold: "a user id", MessageIDs: []string{}, Children: []*Node{}}, tree,
	}}
}

func treeOf(n *engine.Node, counters *[]*engine.Counter) *Node {
	out := &Node{Node: n.Text, Holds: n.Holds, Value: n.Value, Threshold: n.Threshold, MessageIDs: []string{}, Children: []*Node{}}
	out.counter, *counters = (*counters)[0], (*counters)[1:]
	if !n.FlipsAt.IsZero() {
		out.FlipsAt = &n.FlipsAt
	}
	for i := range n.Children {
		out.Children = append(out.Children, treeOf(&n.Children[i], counters))
	}
	return out
}

// prune leaves the nodes that are as they are wanted not to be: nil, if the node itself is
// not. What is below a `not` is what holds.
func prune(n *Node, holds bool) *Node {
	if n.Holds != holds {
		return nil
	}
	if n.Node == "not" {
		holds = !holds
	}
	children := []*Node{}
	for _, child := range n.Children {
		if kept := prune(child, holds); kept != nil {
			children = append(children, kept)
		}
	}
	n.Children = children
	return n
}

// count finds the calls that were counted, and returns how many offsets are gone.
func (l *Log) count(ctx context.Context, u *one, tree *Node) (deleted int64, err error) {
	n, err := l.partitions(ctx)
	if err != nil {
		return 0, err
	}
	ids, nums := []string{u.id}, []int32{u.home}
	for _, link := range u.profile.Links {
		ids, nums = append(ids, link.ID), append(nums, home(link.ID, n))
	}
	of, err := l.ranges(ctx, schemas.TopicRawEvents, nums)
	if err != nil {
		return 0, err
	}
	for num, r := range of {
		deleted += r.Start
		if num == u.home {
			// What came later has not been folded yet, and what was before a deletion is
			// forgotten.
			r.End = min(r.End, u.raw)
			if u.profile.Deletion.Request != "" {
				r.Start = min(max(r.Start, u.profile.Deletion.Offset+1), r.End)
			}
			of[num] = r
		}
	}
	found := &search{seen: make(map[string]bool)}
	found.collect(tree)
	var call engine.Call
	err = l.read(ctx, schemas.TopicRawEvents, of, func(rec *kgo.Record) error {
		if !slices.Contains(ids, string(rec.Key)) {
			return nil
		}
		h, broken := kafka.HeadersOf(rec)
		if broken != nil {
			return nil //nolint:nilerr // as for the stage, it is no call
		}
		call.Offset = rec.Offset
		if engine.ParseCall(&call, rec.Value, &h, rec.Timestamp) == nil {
			found.take(&call)
		}
		return nil
	})
	return deleted, err
}

// search is for the calls that the nodes of a tree count.
type search struct {
	nodes []*Node
	seen  map[string]bool // by source and messageId: copies count once
}

// instant is where the latest call stands that a node has counted.
type instant struct {
	at     time.Time
	offset int64
}

func (s *search) collect(n *Node) {
	if n.counter != nil {
		s.nodes = append(s.nodes, n)
	}
	for _, child := range n.Children {
		s.collect(child)
	}
}

func (s *search) take(call *engine.Call) {
	name := call.Source + "\x00" + call.MessageID
	if s.seen[name] {
		return
	}
	for _, n := range s.nodes {
		if !n.counter.Counts(call) {
			continue
		}
		s.seen[name] = true
		at := instant{call.At, call.Offset}
		switch {
		case !n.counter.Latest:
			n.MessageIDs = append(n.MessageIDs, call.MessageID)
		case len(n.MessageIDs) == 0 || at.at.After(n.latest.at) || at.at.Equal(n.latest.at) && at.offset > n.latest.offset:
			n.MessageIDs, n.latest = []string{call.MessageID}, at
		}
	}
}
