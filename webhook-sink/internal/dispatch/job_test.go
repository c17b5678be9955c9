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

// TestAJobInTheMemoryOfAnother: nothing of the record that was put away is left.
func TestAJobInTheMemoryOfAnother(t *testing.T) {
	for range 100 { // whose memory it is, if any, is the pool's to say
		before := NewJob(&kgo.Record{
			Topic: "deliver.crm", Key: []byte("somebody"), Value: []byte("something"),
			Headers: []kgo.RecordHeader{{Key: "source", Value: []byte("web")}, {Key: "message-id", Value: []byte("m-1")}},
		})
		before.Read()
		before.PutAway()
		j := NewJob(&kgo.Record{Topic: "deliver.lake", Value: []byte("else"), Headers: []kgo.RecordHeader{{Key: "source", Value: []byte("app")}}})
		if j.Read(); j.Err != nil || j.Headers.Source != "app" || j.Headers.MessageID != "" || j.Headers.Destination != "lake" {
			t.Fatalf("headers %+v, %v", j.Headers, j.Err)
		}
		if j.Record.Key != nil || string(j.Record.Value) != "else" || len(j.Record.Headers) != 1 {
			t.Fatalf("record %+v", j.Record)
		}
	}
}
