package webhooksink

import (
	"net/netip"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// TestFinishedReadsWhatIsCommitted: what the sink writes into a commit is what those
// who look on read there.
func TestFinishedReadsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	tracker := offsets.NewTracker(offsets.Done{})
	const epoch = 3
	for offset := range int64(5) {
		tracker.Begin(offset, epoch, 0)
	}
	for _, offset := range []int64{0, 2, 4} {
		tracker.Finish(offset, 0)
	}
	committed, _ := tracker.Position()
	done := Finished(committed, tracker.Done().Encode(committed))
	at := func(offset int64) *kgo.Record {
		return &kgo.Record{Key: []byte("user"), Offset: offset, LeaderEpoch: epoch}
	}
	for offset, want := range map[int64]bool{1: false, 2: true, 3: false, 4: true, 5: false} {
		if done(at(offset)) != want {
			t.Errorf("the record at %d is finished: %t, want %t", offset, !want, want)
		}
	}
	if Finished(1, "anabranch-0")(at(2)) || Finished(1, "")(at(2)) {
		t.Error("metadata that is not the sink's says that a record is finished")
	}
}

// TestBusyKeysReadsWhatIsCommitted is the same for keys that are set aside.
func TestBusyKeysReadsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	tracker := offsets.NewTracker(offsets.Done{})
	tracker.Pass(99, 0)
	offset, _, beyond := tracker.Mark([]offsets.Aside{{Key: 1, From: 40, Count: 30}, {Key: offsets.Fingerprint([]byte("user")), From: 20, Count: 12}})
	text := beyond.Encode(offset)
	if keys, events := BusyKeys(offset, text); offset != 20 || keys != 2 || events != 42 {
		t.Errorf("committed at %d, %d keys with %d events; want 20, 2 and 42", offset, keys, events)
	}
	done := Finished(offset, text)
	for user, want := range map[string]bool{"user": false, "other": true} {
		if got := done(&kgo.Record{Key: []byte(user), Offset: 50}); got != want {
			t.Errorf("the record of %s is finished: %t, want %t", user, got, want)
		}
	}
	if keys, _ := BusyKeys(1, ""); keys != 0 {
		t.Errorf("%d keys where nothing is committed", keys)
	}
}

func TestPermit(t *testing.T) {
	t.Parallel()
	permit := Config{AllowNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}.Permit(netip.MustParseAddrPort("127.0.0.1:8082"))
	for to, want := range map[string]bool{
		"8.8.8.8:443": true, "10.1.2.3:80": true, "127.0.0.1:8082": true, "127.0.0.1:8081": false, "192.168.1.1:80": false, "169.254.169.254:80": false,
	} {
		if got := permit(netip.MustParseAddrPort(to)) == nil; got != want {
			t.Errorf("%s is permitted: %t, want %t", to, got, want)
		}
	}
}
