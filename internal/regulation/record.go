package regulation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// Kinds of records, the first part of their keys.
const (
	kindRegulation  = "regulation"
	kindSubjects    = "regulation-subjects"
	kindRun         = "regulation-run"
	kindSuppression = "suppression"
)

// maxPartBytes is how many bytes of user ids one record holds, but for a single
// id that is longer. Brokers take records of a megabyte, and escaped for JSON an
// id may take six times its bytes.
const maxPartBytes = 120 << 10

type regulationRecord struct {
	Type       Type      `json:"type"`
	Status     Status    `json:"status"`
	CreatedAt  time.Time `json:"createdAt"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	Subjects   int       `json:"subjects"`
	Notified   int       `json:"notified,omitzero"`
	Sources    []string  `json:"sources,omitempty"`
	Reason     string    `json:"reason,omitempty"`
}

type subjectsRecord struct {
	Subjects []string `json:"subjects"`
}

type runRecord struct {
	Token string `json:"token"`
}

// suppressionRecord is about a user whom an earlier release suppressed in the topic
// `workspace`, where nothing is written any more: to be in force no longer.
type suppressionRecord struct {
	Lifted bool `json:"lifted,omitempty"`
}

// newRecord returns a record of the topic `regulations`; a nil value removes what
// the key names.
func newRecord(kind, id string, value any) (*kgo.Record, error) {
	r := &kgo.Record{Topic: schemas.TopicRegulations, Key: []byte(kind + "/" + id)}
	if value == nil {
		return r, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	r.Value = text
	return r, nil
}

func (r Regulation) record() (*kgo.Record, error) {
	return newRecord(kindRegulation, r.ID, regulationRecord{
		r.Type, r.Status, r.CreatedAt, r.FinishedAt, r.Subjects, r.Notified, r.Sources, r.Reason,
	})
}

func decodeRegulation(id string, text []byte) (Regulation, error) {
	var r regulationRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return Regulation{}, errNotJSON
	}
	switch {
	case !slices.Contains(Types(), r.Type):
		return Regulation{}, fmt.Errorf("type: expected one of %v", Types())
	case !slices.Contains(statuses(), r.Status):
		return Regulation{}, fmt.Errorf("status: expected one of %v", statuses())
	case r.Subjects < 0 || r.Subjects > MaxSubjects:
		return Regulation{}, fmt.Errorf("subjects: expected 0 to %d", MaxSubjects)
	case r.Notified < 0 || r.Notified > r.Subjects:
		return Regulation{}, fmt.Errorf("notified: expected 0 to %d", r.Subjects)
	case !validIDs(r.Sources):
		return Regulation{}, errors.New("sources: expected ids of sources")
	}
	return Regulation{id, r.Type, r.Status, r.CreatedAt.UTC(), r.FinishedAt.UTC(), r.Subjects, r.Notified, r.Sources, r.Reason}, nil
}

func validIDs(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !schemas.ValidID(id) })
}

// errNotJSON is all that is said of such a value: it may hold ids of users.
var errNotJSON = errors.New("expected a JSON object of its kind")

// parts cuts user ids, in their order, into as many as a record may hold.
func parts(subjects []string) [][]string {
	var all [][]string
	from, size := 0, 0
	for i, id := range subjects {
		if size > 0 && size+len(id) > maxPartBytes {
			all, from, size = append(all, subjects[from:i]), i, 0
		}
		size += len(id)
	}
	if from < len(subjects) {
		all = append(all, subjects[from:])
	}
	return all
}

// partID names part n of the subjects of a regulation.
func partID(id string, n int) string { return id + "-" + strconv.Itoa(n) }

// splitPart is the inverse of partID.
func splitPart(text string) (id string, n int, ok bool) {
	id, number, _ := strings.Cut(text, "-")
	n, err := strconv.Atoi(number)
	return id, n, err == nil && n >= 0 && n < MaxSubjects && partID(id, n) == text && schemas.ValidID(id)
}

// creation returns the records that store a regulation. Its own comes last: who
// has read that has read all.
func creation(r *Regulation, subjects []string, suppressed *Suppressed) ([]*kgo.Record, error) {
	var records []*kgo.Record
	add := func(record *kgo.Record, err error) error {
		records = append(records, record)
		return err
	}
	var errs []error
	for _, id := range subjects {
		for _, c := range suppressing(r.Type, []byte(id), suppressed) {
			errs = append(errs, add(newRecord(kindSuppression, c.user.String(), c.value)))
		}
	}
	if r.Type.Deletes() {
		for n, part := range parts(subjects) {
			errs = append(errs, add(newRecord(kindSubjects, partID(r.ID, n), subjectsRecord{part})))
		}
	}
	errs = append(errs, add(r.record()))
	return records, errors.Join(errs...)
}

// change is what becomes of one alias; a nil value removes it.
type change struct {
	user  alias
	value any
}

// suppressing returns what a regulation changes about one user. With keys, all aliases
// go that the user is suppressed under, but the current one.
func suppressing(t Type, userID []byte, suppressed *Suppressed) (all []change) {
	current := change{user: suppressed.current(userID)}
	if t.Suppresses() {
		current.value = suppressionRecord{}
	} else if t != Unsuppress {
		return nil
	}
	all = append(all, current)
	for _, old := range suppressed.outdated(userID) {
		all = append(all, change{user: old})
	}
	if hash := hashOf(userID); t == Unsuppress && suppressed.earlier(hash) {
		without := func(c change) bool { return c.user.key == "" }
		all = append(slices.DeleteFunc(all, without), change{alias{hash: hash}, suppressionRecord{Lifted: true}})
	}
	return all
}

// removal returns the records that remove what a regulation needs no longer: ids
// of users above all.
func removal(id string, parts []int) []*kgo.Record {
	var records []*kgo.Record
	for _, n := range parts {
		record, _ := newRecord(kindSubjects, partID(id, n), nil)
		records = append(records, record)
	}
	record, _ := newRecord(kindRun, id, nil)
	return append(records, record)
}
