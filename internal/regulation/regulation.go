package regulation

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// MaxSubjects is how many users a regulation may concern (protocol, "Deletion
// requests").
const MaxSubjects = 5000

// MaxSubjectBytes is the longest user id that a regulation may name: no call can
// hold a longer one.
const MaxSubjectBytes = schemas.MaxCallBytes

// Type says what a regulation asks for.
type Type string

// The types of regulation.
const (
	SuppressWithDelete Type = "SUPPRESS_WITH_DELETE" // both of the next two
	DeleteOnly         Type = "DELETE_ONLY"          // destinations are told to delete the users
	SuppressOnly       Type = "SUPPRESS_ONLY"        // the users' calls are dropped from now on
	Unsuppress         Type = "UNSUPPRESS"           // they are taken in again
)

// Types returns all of them.
func Types() []Type { return []Type{SuppressWithDelete, DeleteOnly, SuppressOnly, Unsuppress} }

// Suppresses tells whether the users' calls are dropped from now on.
func (t Type) Suppresses() bool { return t == SuppressWithDelete || t == SuppressOnly }

// Deletes tells whether destinations are told.
func (t Type) Deletes() bool { return t == SuppressWithDelete || t == DeleteOnly }

// Status says how far a regulation has come.
type Status string

// The statuses of a regulation.
const (
	Initialized Status = "INITIALIZED" // stored; what it suppresses is suppressed
	Running     Status = "RUNNING"     // some of its notifications are written
	Finished    Status = "FINISHED"    // all are written
	Failed      Status = "FAILED"      // it can never be carried out; Reason says why
)

func statuses() []Status { return []Status{Initialized, Running, Finished, Failed} }

// Final tells whether nothing more becomes of the regulation.
func (s Status) Final() bool { return s == Finished || s == Failed }

// Regulation is one request and what has become of it.
type Regulation struct {
	ID         string // as schemas.ValidID wants it
	Type       Type
	Status     Status
	CreatedAt  time.Time // UTC, milliseconds
	FinishedAt time.Time // when the status became final; zero before
	Subjects   int       // users that it concerns
	Notified   int       // of those, in their order, whom every affected source was told of
	Sources    []string  // ids of the affected sources; nil until the first notification
	Reason     string    // of a failure, for people, without user ids
}

// New returns a regulation that nothing has become of yet. One that tells
// nobody is finished as soon as it is stored.
func New(t Type, subjects int, now time.Time) Regulation {
	r := Regulation{
		// Letters and digits that nobody can guess: a status is for who knows the id.
		ID:     strings.ToLower(rand.Text()),
		Type:   t,
		Status: Initialized, CreatedAt: now.UTC().Truncate(time.Millisecond), Subjects: subjects,
	}
	if !t.Deletes() {
		r.Status, r.FinishedAt = Finished, r.CreatedAt
	}
	return r
}

// End returns the regulation with a final status.
func (r Regulation) End(status Status, reason string, now time.Time) Regulation {
	r.Status, r.Reason, r.FinishedAt = status, reason, now.UTC().Truncate(time.Millisecond)
	return r
}
