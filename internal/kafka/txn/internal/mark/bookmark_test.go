package mark

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestALastingCommitSaysSo: the version that goes over the wire still has the field,
// and what was committed is there to be read.
func TestALastingCommitSaysSo(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	crm := schemas.DeliverTopic("crm")
	c.CreateTopics(t, 1, crm)
	asked := make(chan kmsg.OffsetCommitRequest, 1)
	c.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		asked <- *req.(*kmsg.OffsetCommitRequest)
		return nil, nil, false
	})
	want := kafka.Commit{Offset: 2, Metadata: "so far"}
	cl := c.Client(t, kgo.MaxVersions(LastingVersions()))
	if err := CommitLasting(t.Context(), cl, "anabranch-keeper", map[kafka.Partition]kafka.Commit{{Topic: crm}: want}); err != nil {
		t.Fatal(err)
	}
	if req := <-asked; req.Version > 4 || req.RetentionTimeMillis < 100*365*24*time.Hour.Milliseconds() {
		t.Errorf("version %d asks for %d ms", req.Version, req.RetentionTimeMillis)
	}
	got, err := kafka.NewTopics(cl).Commits(t.Context(), "anabranch-keeper", crm)
	if diff := cmp.Diff(map[int32]kafka.Commit{0: want}, got); err != nil || diff != "" {
		t.Errorf("commits: %v (-want +got):\n%s", err, diff)
	}
}
