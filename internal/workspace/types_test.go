package workspace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
)

func TestATypeDecidesAboutNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d                  workspace.Destination
		topic, integration string
	}{
		{workspace.Destination{ID: "a"}, "deliver.a", "Webhooks"},
		{workspace.Destination{ID: "export", Type: workspace.TypeWebhooks}, "deliver.export", "Webhooks"},
		{workspace.Destination{ID: "a", Type: workspace.TypeTopic}, "deliver.export.a", "Topic"},
		{workspace.Destination{ID: "a", Type: workspace.TypeTopic, Export: &workspace.Export{Partitions: 1}}, "deliver.export.a", "Topic"},
		{workspace.Destination{ID: "a", Type: workspace.TypeTopic, Export: &workspace.Export{Name: "shop.calls"}}, "shop.calls", "Topic"},
		{workspace.Destination{ID: "a", Type: workspace.TypeArchive}, "deliver.archive.a", "Archive"},
	} {
		if topic, name := tt.d.Topic(), tt.d.IntegrationName(); topic != tt.topic || name != tt.integration {
			t.Errorf("%+v: %s, %s", tt.d, topic, name)
		}
		s := workspace.NewSnapshot(nil, []workspace.Destination{tt.d})
		if d, ok := s.ByTopic(tt.topic); !ok || d.ID != tt.d.ID {
			t.Errorf("%s is the topic of %v", tt.topic, d)
		}
	}
}

func TestDestinationsOfAType(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*workspace.Snapshot{
		"made": wstest.CRM(), "with other secrets": wstest.CRM().MapSecrets(func(workspace.Place, schemas.Secret) schemas.Secret { return "x" }),
	} {
		got := make(map[string][]string)
		for _, of := range []string{workspace.TypeWebhooks, workspace.TypeTopic, workspace.TypeArchive, "later"} {
			for _, d := range s.DestinationsOf(of) {
				if same, _ := s.Destination(d.ID); same != d {
					t.Errorf("%s: another %s", name, d.ID)
				}
				got[of] = append(got[of], d.ID)
			}
		}
		want := map[string][]string{workspace.TypeWebhooks: {"crm"}, workspace.TypeTopic: {"warehouse"}, workspace.TypeArchive: {"glacier", "shelf"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestKeysOfAnArchiveAreSecrets, which are replaced in a copy alone.
func TestKeysOfAnArchiveAreSecrets(t *testing.T) {
	t.Parallel()
	s := wstest.CRM()
	before, _ := s.Destination("glacier")
	want := map[workspace.Place]schemas.Secret{
		{Destination: "glacier", URL: "https://s3.example.com", Header: "archive/accessKey"}: wstest.Canary,
		{Destination: "glacier", URL: "https://s3.example.com", Header: "archive/secretKey"}: wstest.Canary,
	}
	revealed := cmp.Transformer("reveal", func(s schemas.Secret) string { return s.Reveal() })
	if diff := cmp.Diff(want, before.Secrets(), revealed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	after := before.MapSecrets(func(workspace.Place, schemas.Secret) schemas.Secret { return schemas.SealedSecret("form") })
	if !after.Sealed() || before.Sealed() {
		t.Errorf("sealed: %t, and before %t", after.Sealed(), before.Sealed())
	}
}

// TestWhatIsLeftOfATopic is said of whatever takes a topic from the router.
func TestWhatIsLeftOfATopic(t *testing.T) {
	t.Parallel()
	hooks := workspace.Destination{ID: "a", Type: workspace.TypeWebhooks, Endpoints: []workspace.Endpoint{{URL: "http://a"}}}
	topic := workspace.Destination{ID: "a", Type: workspace.TypeTopic}
	named := workspace.Destination{ID: "a", Type: workspace.TypeTopic, Export: &workspace.Export{Name: "calls"}}
	wider := workspace.Destination{ID: "a", Type: workspace.TypeTopic, Export: &workspace.Export{Partitions: 12}}
	archive := workspace.Destination{ID: "a", Type: workspace.TypeArchive, Archive: &workspace.Archive{Directory: "a"}}
	off := workspace.Destination{ID: "a", Type: workspace.TypeTopic, Name: "A", Export: &workspace.Export{}}
	for _, tt := range []struct {
		before, after []workspace.Destination
		want          string
	}{
		{nil, []workspace.Destination{topic}, ""},
		{[]workspace.Destination{topic}, []workspace.Destination{off}, ""},
		{[]workspace.Destination{hooks}, nil, "topic deliver.a is not deleted: what waits there goes to dead-letters"},
		{[]workspace.Destination{hooks}, []workspace.Destination{topic}, "topic deliver.a is not deleted: what waits there goes to dead-letters"},
		{[]workspace.Destination{topic}, []workspace.Destination{named}, "topic deliver.export.a is not deleted: it keeps what it holds for its retention, and nothing more is written to it"},
		{[]workspace.Destination{archive}, []workspace.Destination{hooks}, "topic deliver.archive.a is not deleted: what waits there is not archived any more"},
		{[]workspace.Destination{topic}, []workspace.Destination{wider}, "topic deliver.export.a keeps its partitions and its retention if it is there: `anabranch doctor` tells where they differ, and how to change them"},
	} {
		changes := workspace.Diff(workspace.NewSnapshot(nil, tt.before), workspace.NewSnapshot(nil, tt.after))
		if len(changes) != 1 || changes[0].Left != tt.want {
			t.Errorf("%+v\nwant %s", changes, tt.want)
		}
	}
}
