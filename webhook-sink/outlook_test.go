package webhooksink

import (
	"net/netip"
	"testing"

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
	for offset, want := range map[int64]bool{1: false, 2: true, 3: false, 4: true, 5: false} {
		if done(offset, epoch) != want {
			t.Errorf("the record at %d is finished: %t, want %t", offset, !want, want)
		}
	}
	if Finished(1, "anabranch-0")(2, epoch) || Finished(1, "")(2, epoch) {
		t.Error("metadata that is not the sink's says that a record is finished")
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
