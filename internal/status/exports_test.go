package status

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
)

// TestATopicForOthers: nothing of it waits here, whoever reads it.
func TestATopicForOthers(t *testing.T) {
	t.Parallel()
	export := workspace.Destination{ID: "warehouse", Type: workspace.TypeTopic, Enabled: true, Export: &workspace.Export{Name: "shop.calls", Partitions: 3}}
	b := newBasin(t, export, workspace.Destination{ID: "spare", Type: workspace.TypeTopic})
	if err := b.set.Topics.For(b.set.Workspace.Exports()).Ensure(t.Context(), "shop.calls"); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := b.cl.ProduceSync(t.Context(), &kgo.Record{Topic: "shop.calls", Value: []byte("{}")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	r := b.report(ample())
	got := r.destination(t, "warehouse")
	if diff := cmp.Diff(&Export{Topic: "shop.calls", Partitions: 3, Events: 5}, got.Export); diff != "" || got.Type != workspace.TypeTopic || got.Undelivered.Events != 0 {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
	if spare := r.destination(t, "spare").Export; spare == nil || spare.Partitions != 0 || spare.Topic != "deliver.export.spare" {
		t.Errorf("without its topic: %+v", spare)
	}
	var text bytes.Buffer
	if err := Table(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"TOPIC FOR OTHERS      OF DESTINATION  IS", "shop.calls            warehouse       enabled   3           <=5"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "UNDELIVERED") {
		t.Errorf("a table of webhooks without any:\n%s", &text)
	}
}
