package dispatch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// TestAJobKeepsNothingOfTheResponse: what was fetched is overwritten, and the job
// still has its record.
func TestAJobKeepsNothingOfTheResponse(t *testing.T) {
	response := []byte("keyvalueheader")
	fetched := &kgo.Record{
		Topic: "deliver.crm", Partition: 3, Offset: 17, LeaderEpoch: 2,
		Key: response[:3], Value: response[3:8], Headers: []kgo.RecordHeader{{Key: "type", Value: response[8:]}, {Key: "none"}},
	}
	j := NewJob(fetched)
	clear(response)
	fetched.Headers[0].Key = "overwritten"
	want := kgo.Record{
		Topic: "deliver.crm", Partition: 3, Offset: 17, LeaderEpoch: 2,
		Key: []byte("key"), Value: []byte("value"), Headers: []kgo.RecordHeader{{Key: "type", Value: []byte("header")}, {Key: "none"}},
	}
	if diff := cmp.Diff(&want, j.Record, cmpopts.IgnoreUnexported(kgo.Record{}, kgo.RecordAttrs{})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	_ = append(j.Record.Key, "!!!!!"...) // must not run into the value
	if string(j.Record.Value) != "value" || j.size != len("keyvalueheader")+partition.Overhead {
		t.Errorf("value %q of a job of %d bytes, expected an untouched value and %d", j.Record.Value, j.size, len("keyvalueheader")+partition.Overhead)
	}
	if tombstone := NewJob(&kgo.Record{Key: []byte("k")}); tombstone.Record.Value != nil {
		t.Error("a record without a value has one now")
	}
}
