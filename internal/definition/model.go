package definition

import "time"

// The bounds of a definition.
const (
	MaxLeaves     = 50     // of one definition
	MaxDepth      = 8      // of an audience's tree; the node under `when` is 1
	MaxMaxValues  = 10_000 // what max_values may say
	MaxValues     = 100    // what it is when it says nothing
	MinOccurrence = 2      // what at_least is when it says nothing
)

// Common is what audiences and computed traits have alike.
type Common struct {
	ID        string // the property that is told; never changed, never used again
	Name      string
	Enabled   bool
	Anonymous bool    // whether users without a user id count too
	History   History // how far back it looks when it is created
	Send      Send
	// Destinations are the only ones that are told, at most 100 (schemas.MaxOnly);
	// empty: all that are connected to the source `personas`.
	Destinations []string
	// AtMostEvery is the least time between two changes that are told of one user: an
	// audience's `stay`, a trait's `every`.
	AtMostEvery time.Duration
}

// Audience is a set of users, of which each one's entering and leaving is told.
type Audience struct {
	Common

	When     Cond
	OnDelete OnDelete
}

// Trait is a computed trait: a value of each user, told when it changes.
type Trait struct {
	Common

	Take      Aggregate
	Of        Path // of what; nil for Count
	Event     Event
	AtLeast   int // of MostFrequent: how often the value has to have come
	MaxValues int // of Unique and UniqueCount: how many values are kept, the newest; zero of a UniqueCount: MaxValues
}

// History is how far back a definition looks in the log when it is created: all of it,
// with Full; what was received at most For before, with a For above zero; else only
// what comes from then on.
type History struct {
	Full bool
	For  time.Duration
}

// Send is by which calls a change is told.
type Send string

// The ways.
const (
	SendIdentify Send = "identify"
	SendTrack    Send = "track"
	SendBoth     Send = "both"
)

// OnDelete is what the members of an audience hear when it is deleted.
type OnDelete string

// What they may hear.
const (
	OnDeleteKeep OnDelete = "keep" // nothing: they keep what they were told last
	OnDeleteExit OnDelete = "exit" // that they have left
)

// Cond is a node of an audience's tree: exactly one of its fields is set.
type Cond struct {
	All  []Cond // not empty
	Any  []Cond // not empty
	Not  *Cond
	Leaf *Leaf
}

// Leaf is a condition that has none below it: exactly one of its pointers or texts says
// what it looks at.
type Leaf struct {
	Did *Did
	// The others compare one value, by Is.
	Trait    Path         // of identify calls
	Computed string       // id of a computed trait
	Profile  ProfileField // when the user was seen
	Is       Test
	// Audience is the id of one whose members hold; it has no Is.
	Audience string
}

// Did is a condition on what a user did: on how many events there are, or on an
// aggregate of a value of theirs.
type Did struct {
	Event Event
	Take  Aggregate // Count: the events are counted
	Of    Path      // nil for Count
	Is    Test      // of the count or the aggregate
}

// ProfileField is a time at which a user was seen.
type ProfileField string

// The times there are, both by event time.
const (
	FirstSeen ProfileField = "first_seen"
	LastSeen  ProfileField = "last_seen"
)

// Event selects events of a user.
type Event struct {
	Type EventType
	// Name is compared exactly, case-sensitive; AnyName, which only pages and screens
	// have, takes all.
	Name    string
	AnyName bool
	// Where are alternatives, each of which has all its predicates hold; empty: no
	// filter.
	Where  [][]Pred
	Window Window
	// Sources are the only ones whose events count; ExceptSources are those whose events
	// do not. At most one of both is set.
	Sources       []string
	ExceptSources []string
}

// EventType is a type of calls that events are made of.
type EventType string

// The types there are.
const (
	Track  EventType = "track"
	Page   EventType = "page"
	Screen EventType = "screen"
)

// Window is the time in which events count. Of the zero value it is all time.
type Window struct {
	Kind WindowKind
	// Within: now-Far < t <= now. Between: now-Far < t <= now-Near.
	Far, Near time.Duration
	// Since: Since <= t < Until; a zero Until is no end.
	Since, Until time.Time
}

// WindowKind is a kind of [Window].
type WindowKind int

// The kinds there are.
const (
	AllTime WindowKind = iota
	Within
	Between
	Since
)

// Pred is a test of one value of an event.
type Pred struct {
	Path Path // in the properties, or below `context`
	Test Test
}

// Path leads to a value: its elements are the names of members, from the outside in.
type Path []string

// Test holds if all of its operations do. It has at least one.
type Test []Operation

// Operation compares a value with its operands.
type Operation struct {
	Op Op
	// Values are the operands of In, NotIn (one at least), and of all others that
	// compare values (exactly one; of Exists a boolean). Before and After have At, the
	// relative ones have For.
	Values []Value
	At     time.Time
	For    time.Duration
}

// Op is an operator. A missing value fails all of them but Ne, NotIn, NotContains and
// Exists with false.
type Op string

// The operators there are.
const (
	Eq          Op = "eq"
	Ne          Op = "ne"
	Gt          Op = "gt"
	Gte         Op = "gte"
	Lt          Op = "lt"
	Lte         Op = "lte"
	In          Op = "in"
	NotIn       Op = "not_in"
	Contains    Op = "contains" // a list: membership; a string: a substring
	NotContains Op = "not_contains"
	StartsWith  Op = "starts_with"
	EndsWith    Op = "ends_with"
	Exists      Op = "exists"
	Before      Op = "before"      // strictly
	After       Op = "after"       // strictly
	WithinLast  Op = "within_last" // now-For < t <= now
	BeforeLast  Op = "before_last" // t <= now-For
	WithinNext  Op = "within_next" // now < t <= now+For
	AfterNext   Op = "after_next"  // t > now+For
)

// Value is a JSON scalar: of its fields, the one that Kind says.
type Value struct {
	Kind   ValueKind
	Text   string
	Number float64
	Bool   bool
}

// ValueKind is a type of JSON scalars.
type ValueKind int

// The kinds there are.
const (
	Null ValueKind = iota
	Text
	Number
	Bool
)

// Aggregate makes one value of those of several events.
type Aggregate string

// The aggregates there are.
const (
	Count        Aggregate = "count"
	Sum          Aggregate = "sum"
	Avg          Aggregate = "avg"
	Min          Aggregate = "min"
	Max          Aggregate = "max"
	First        Aggregate = "first"
	Last         Aggregate = "last"
	MostFrequent Aggregate = "most_frequent"
	Unique       Aggregate = "unique"
	UniqueCount  Aggregate = "unique_count"
)
