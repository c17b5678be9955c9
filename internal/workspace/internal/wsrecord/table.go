package wsrecord

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/schemas"
)

const (
	keyApplied = "workspace/applied"
	kindPause  = "pause"
)

func recordKey(kind, id string) string { return kind + "/" + id }

// Table is the latest readable record per key: the state of the topic up to
// some offset.
type Table struct {
	Applied bool // people have applied a workspace, whatever is left of it

	shapes  map[string]*kind.Shape      // by kind
	entries map[string]map[string]entry // by kind and id
	single  map[string]bool             // kinds of which there is only one entry
	later   map[string]bool             // keys of records of a later version
	pauses  map[string]workspace.Pause  // by destination
	written map[string]time.Time        // by key, of entries
	history history
}

// entry is what a record says.
type entry struct {
	value   reflect.Value // of the kind's type
	unknown any           // the record as JSON, when it has members that this release does not know
}

// NewTable returns the state of an empty topic.
func NewTable() *Table {
	t := &Table{
		shapes: make(map[string]*kind.Shape), entries: make(map[string]map[string]entry), later: make(map[string]bool), single: make(map[string]bool),
		pauses: make(map[string]workspace.Pause), written: make(map[string]time.Time),
	}
	for _, section := range workspace.Declaration().Fields {
		t.shapes[section.Kind], t.entries[section.Kind] = section.Entry(), make(map[string]entry)
		t.single[section.Kind] = section.Form != kind.List
	}
	return t
}

// Apply takes in one record. A record that can't be read is an error and
// changes nothing: the last good one of its key stays in force. So it is with one
// of a later version ([schemas.VersionError]) or kind or type ([ErrKind], [ErrType]): to go on
// delivering as before is safer than to stop, or to deliver by half of what a
// record says. While an upgrade rolls, the new processes obey the new record.
func (t *Table) Apply(r *kgo.Record) error {
	err := t.set(string(r.Key), r.Value)
	t.noteVersion(string(r.Key), err)
	if err != nil {
		return fmt.Errorf("decode %s[%d]@%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	of, id, _ := strings.Cut(string(r.Key), "/")
	e, ok := t.entries[of][id]
	if !ok {
		delete(t.written, string(r.Key))
		return nil
	}
	t.written[string(r.Key)] = r.Timestamp
	if t.shapes[of].Form == kind.Tree {
		kind.Owner(e.value).Written(r.Timestamp)
	}
	return nil
}

func (t *Table) set(key string, text []byte) error {
	if key == keyApplied {
		t.Applied, t.history = true, readHistory(text)
		return nil
	}
	of, id, _ := strings.Cut(key, "/")
	known := t.shapes[of] != nil
	switch {
	case of == kindPause && schemas.ValidID(id):
		return t.setPause(id, text)
	case !known && schemas.ValidID(of) && (schemas.ValidID(id) || definition.ValidID(id)):
		return fmt.Errorf("key %.80q: %w", key, ErrKind)
	case !known || !t.validID(of, id):
		return fmt.Errorf("key %.80q: expected %s", key, keys())
	case text == nil:
		delete(t.entries[of], id)
		return nil
	}
	if err := t.read(of, id, text); err != nil {
		return fmt.Errorf("%q: %w", id, err)
	}
	return nil
}

func (t *Table) read(of, id string, text []byte) error {
	value, unknown, err := readInto(t.shapes[of], id, text)
	if err != nil {
		return err
	}
	e := entry{value: value}
	if unknown {
		e.unknown, err = document.ParseJSON(text)
		dropVersion(e.unknown)
	}
	t.entries[of][id] = e
	return err
}

// Snapshot returns the workspace that the records say.
func (t *Table) Snapshot() *workspace.Snapshot {
	doc := workspace.Document{Pauses: t.pauses}
	to := reflect.ValueOf(&doc).Elem()
	for _, section := range workspace.Declaration().Fields {
		held := to.Field(section.Index)
		for _, e := range t.entries[section.Kind] {
			if section.Form == kind.List {
				held.Set(reflect.Append(held, e.value))
			} else {
				held.Set(e.value.Addr())
			}
		}
	}
	return doc.Snapshot()
}

// Format writes how much the table holds, for every verb: fmt reaches unexported fields
// and would print the secrets in them.
func (t *Table) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, t.Snapshot())
}

// validID tells whether an entry of a kind may have an id.
func (t *Table) validID(of, id string) bool {
	switch s := t.shapes[of]; {
	case t.single[of]:
		return id == workspace.SettingsID
	case s.Form == kind.Tree:
		return kind.Owner(reflect.Zero(s.Type)).ValidID(id)
	default:
		return schemas.ValidID(id)
	}
}

// keys says what keys there are.
func keys() string {
	var all strings.Builder
	for _, section := range workspace.Declaration().Fields {
		id := "<id>"
		if section.Form != kind.List {
			id = workspace.SettingsID
		}
		all.WriteString(recordKey(section.Kind, id) + ", ")
	}
	return all.String() + recordKey(kindPause, "<id>") + " or " + keyApplied
}
