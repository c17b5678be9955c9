package replay

import (
	"slices"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
)

// TestOnlyWebhooksAreSentPastEvents: the sink, which reads the topics of replays, has no
// other destinations.
func TestOnlyWebhooksAreSentPastEvents(t *testing.T) {
	t.Parallel()
	ws := workspace.NewSnapshot(nil, []workspace.Destination{
		{ID: "crm", Type: workspace.TypeWebhooks, Enabled: true}, {ID: "warehouse", Type: workspace.TypeTopic, Enabled: true}, {ID: "cold", Type: workspace.TypeArchive, Enabled: true},
	})
	if all, err := meant(new(Choice), ws); err != nil || !slices.Equal(all, []string{"crm"}) {
		t.Errorf("%v, %v", all, err)
	}
	const want = "--destination=warehouse: it is of type topic: expected one with webhooks, which alone can be sent past events"
	if _, err := meant(&Choice{Destination: "warehouse"}, ws); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
