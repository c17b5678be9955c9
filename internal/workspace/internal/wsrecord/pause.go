package wsrecord

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// pauseVersion is the latest version of a record of a pause that this release understands.
const pauseVersion = 1

func (t *Table) setPause(id string, text []byte) error {
	if text == nil {
		delete(t.pauses, id)
		return nil
	}
	if err := schemas.CheckVersionOf(text, pauseVersion); err != nil {
		return fmt.Errorf("pause of %q: %w", id, err)
	}
	var p workspace.Pause
	if json.Unmarshal(text, &p) != nil || p.Since.IsZero() {
		return fmt.Errorf("pause of %q: %w", id, errors.New("expected the time since when, and by whom"))
	}
	t.pauses[id] = p
	return nil
}

// Pause returns the record that pauses a destination; nil: the one that ends its pause.
func Pause(id string, p *workspace.Pause) (*kgo.Record, error) {
	r := &kgo.Record{Key: []byte(recordKey(kindPause, id))}
	if p == nil {
		return r, nil
	}
	var err error
	r.Value, err = json.Marshal(p)
	return r, err
}

// Unpause returns the records that end the pauses which the next workspace has no use for:
// those of destinations that are gone, or have no webhooks any more.
func (t *Table) Unpause(next *workspace.Snapshot) []*kgo.Record {
	var records []*kgo.Record
	for _, id := range slices.Sorted(maps.Keys(t.pauses)) {
		if d, stays := next.Destination(id); !stays || d.Unpausable() != "" {
			records = append(records, &kgo.Record{Key: []byte(recordKey(kindPause, id))})
		}
	}
	return records
}
