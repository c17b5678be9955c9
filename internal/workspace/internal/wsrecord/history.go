package wsrecord

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
)

const (
	// mostApplications and mostHistory bound how many applications are kept, and how many
	// bytes they take together: brokers by default take up to a megabyte.
	mostApplications = 50
	mostHistory      = 128 << 10
	// mostNoted bounds how many changes of one application are.
	mostNoted = 100
	maxBy     = 200 // bytes of a name
)

// history is the record that says that people have applied a workspace. Members that this
// release does not know are kept.
type history struct {
	applications []json.RawMessage // the oldest first
	others       map[string]json.RawMessage
}

const memberApplications = "applications"

// readHistory reads what earlier releases leave empty. What can't be read says nothing: that
// there was an application is said by the key.
func readHistory(text []byte) (h history) {
	if json.Unmarshal(text, &h.others) != nil {
		return history{}
	}
	_ = json.Unmarshal(h.others[memberApplications], &h.applications) // as above
	delete(h.others, memberApplications)
	return h
}

// History returns the applications that are kept, the last one first.
func (t *Table) History() (all []workspace.Application) {
	for _, text := range slices.Backward(t.history.applications) {
		var a workspace.Application
		if json.Unmarshal(text, &a) == nil && !a.At.IsZero() { // else a later release's
			all = append(all, a)
		}
	}
	return all
}

// Note returns the record that says that people have applied a workspace, with one more
// application in its history. The oldest make room.
func (t *Table) Note(at time.Time, by string, changes []workspace.Change) (*kgo.Record, error) {
	a := workspace.Application{At: at.UTC().Truncate(time.Second), By: strings.ToValidUTF8(by[:min(len(by), maxBy)], ""), Changes: []workspace.Noted{}, More: max(0, len(changes)-mostNoted)}
	for _, c := range changes[:min(len(changes), mostNoted)] {
		a.Changes = append(a.Changes, c.Note())
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(t.history.applications), text)
	all = all[max(0, len(all)-mostApplications):]
	for size(all) > mostHistory && len(all) > 1 {
		all = all[1:]
	}
	record := maps.Clone(t.history.others)
	if record == nil {
		record = make(map[string]json.RawMessage)
	}
	if record[memberApplications], err = json.Marshal(all); err != nil {
		return nil, fmt.Errorf("encode %s: %w", keyApplied, err)
	}
	value, err := json.Marshal(record)
	return &kgo.Record{Key: []byte(keyApplied), Value: value}, err
}

func size(all []json.RawMessage) (n int) {
	for _, text := range all {
		n += len(text)
	}
	return n
}

// aftermath is how long after an application its records may have been written, by clocks
// that differ.
const aftermath = time.Minute

// Holdings are what is in force, in the order of the file, and when and by whom each was last
// changed.
func (t *Table) Holdings() (all []workspace.Holding) {
	applications := t.History()
	s := t.Snapshot()
	for _, section := range workspace.Declaration().Fields {
		for _, id := range slices.Sorted(maps.Keys(s.Entries(section.Kind))) {
			one := workspace.Holding{Kind: section.Kind, ID: id, Changed: t.written[recordKey(section.Kind, id)].UTC()}
			if a := lastOf(applications, section.Kind, id); a != nil && one.Changed.Sub(a.At).Abs() <= aftermath {
				one.By = a.By
			}
			all = append(all, one)
		}
	}
	return all
}

// lastOf is the last application that changed something; nil: none that is known of.
func lastOf(all []workspace.Application, of, id string) *workspace.Application {
	for i := range all {
		if slices.ContainsFunc(all[i].Changes, func(c workspace.Noted) bool { return c.Kind == of && c.ID == id }) {
			return &all[i]
		}
	}
	return nil
}
