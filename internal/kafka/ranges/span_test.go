package ranges

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestSpanTakesItsShare(t *testing.T) {
	t.Parallel()
	var seen []int64
	take := func(s *Span, records []*kgo.Record, most int) {
		t.Helper()
		err := s.take(&kgo.FetchPartition{Records: records, LogStartOffset: 10}, most, func(_ *Span, r *kgo.Record) error {
			seen = append(seen, r.Offset)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	records := []*kgo.Record{{Offset: 10}, {Offset: 12}, {Offset: 15}, {Offset: 20}}
	s := &Span{Next: 10, End: 16}
	take(s, records[:1], 2)
	if s.Done() || s.Left() != 5 {
		t.Errorf("after one record: %+v", s)
	}
	take(s, records[1:], 2)
	if s.Done() || s.Records != 2 || s.Left() != 3 {
		t.Errorf("after its share: %+v", s)
	}
	take(s, records[2:], 9)
	if !s.Done() || s.Left() != 0 {
		t.Errorf("at its end: %+v", s)
	}
	if diff := cmp.Diff([]int64{10, 12, 15}, seen); diff != "" {
		t.Errorf("handed out (-want +got):\n%s", diff)
	}
	// The end can be a marker's, or that of what retention deleted.
	s = &Span{Next: 10, End: 16}
	take(s, records[3:], 9)
	if !s.Done() || len(seen) != 3 {
		t.Errorf("behind its end: %+v, %v", s, seen)
	}
}
