package workspace

import "time"

// Application is one time that a workspace was put in force, and what that changed. It names
// what differed and shows none of it, so that it can be kept and printed. In JSON it is as the
// topic has it.
type Application struct {
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty"` // a person, or a file and its machine; empty: not known
	Changes []Noted   `json:"changes"`
	More    int       `json:"more,omitempty"` // changes beside those, for which there was no room
}

// Noted is a [Change] as it is kept.
type Noted struct {
	Op     string   `json:"op"` // that of the change, as it is printed
	Kind   string   `json:"kind"`
	ID     string   `json:"id"`
	Fields []string `json:"fields,omitempty"`
}

// Note returns a change as it is kept.
func (c Change) Note() Noted { return Noted{string(c.Op), c.Kind, c.ID, c.Fields} }

// String is the line of the change in a plan.
func (n *Noted) String() string {
	if len(n.Op) != 1 {
		return n.Op + " " + n.Kind + " " + n.ID // a later release's
	}
	return Change{Op: Op(n.Op[0]), Kind: n.Kind, ID: n.ID, Fields: n.Fields}.String()
}

// Holding is something that is in force, and what is known of how it came about.
type Holding struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	// Changed is when its record was written.
	Changed time.Time `json:"changed_at"`
	// By is whose application that was; empty: not known, since nobody said so, an earlier
	// release did it, or the application is no longer kept.
	By string `json:"by,omitempty"`
}
