package regulate

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/regulation"
)

// TestTheStatusSaysWhatIsFinished: FINISHED does not mean that a destination has deleted anybody.
func TestTheStatusSaysWhatIsFinished(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   regulation.Type
		status regulation.Status
		want   string
	}{
		{regulation.SuppressOnly, regulation.Finished, "the users' calls are dropped"},
		{regulation.Unsuppress, regulation.Finished, "the users' calls are taken in again"},
		{regulation.DeleteOnly, regulation.Initialized, "notifications to delete are being written"},
		{regulation.DeleteOnly, regulation.Finished, "every notification to delete is on its way"},
		{regulation.SuppressWithDelete, regulation.Running, "the users' calls are dropped; notifications to delete are being written"},
		{regulation.SuppressWithDelete, regulation.Failed, "the users' calls are dropped; the rest of the notifications to delete is never sent"},
	} {
		got := statusOf(&regulation.Regulation{Type: c.kind, Status: c.status}).Data.Regulation.Meaning
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.kind, c.status, got, c.want)
		}
	}
}
