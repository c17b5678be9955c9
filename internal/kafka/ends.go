package kafka

import (
	"context"
	"fmt"
)

// Ends returns, by topic and partition, the offset behind the last record. Topics that
// do not exist are left out, and so are partitions whose leader does not answer; an
// error is about some of them, or all.
func (t *Topics) Ends(ctx context.Context, topics ...string) (map[string]map[int32]int64, error) {
	if len(topics) == 0 {
		return nil, nil // the library takes none for all
	}
	listed, err := t.admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		err = fmt.Errorf("list the ends of topics: %w", err)
	}
	ends := make(map[string]map[int32]int64, len(listed))
	for topic, partitions := range listed {
		ends[topic] = make(map[int32]int64, len(partitions))
		for partition, at := range partitions {
			if at.Err == nil {
				ends[topic][partition] = at.Offset
			}
		}
	}
	return ends, err
}
