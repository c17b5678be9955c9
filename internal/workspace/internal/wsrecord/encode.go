package wsrecord

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
)

// Encode returns the records that make changes towards next, one for each.
func Encode(changes []workspace.Change, next *workspace.Snapshot) ([]*kgo.Record, error) {
	records := make([]*kgo.Record, len(changes))
	for i, change := range changes {
		text, err := encode(next, change.Kind, change.ID)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s: %w", change.Kind, change.ID, err)
		}
		records[i] = &kgo.Record{Key: []byte(recordKey(change.Kind, change.ID)), Value: text}
	}
	return records, nil
}

// Applied returns the record that says that people have applied a workspace.
func Applied() *kgo.Record {
	return &kgo.Record{Key: []byte(keyApplied), Value: []byte("{}")}
}

// encode returns the value of the record of a source or destination, nil when
// the snapshot lacks it.
func encode(s *workspace.Snapshot, kind, id string) ([]byte, error) {
	if source, ok := s.Source(id); ok && kind == workspace.KindSource {
		return encodeSource(source)
	}
	if destination, ok := s.Destination(id); ok && kind == workspace.KindDestination {
		return encodeDestination(destination)
	}
	return nil, nil
}
