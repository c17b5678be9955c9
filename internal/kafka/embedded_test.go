package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestTheEmbeddedBrokerIsKnownByItsCluster(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{EmbeddedCluster: true, "q1Sh-9_ISia_zwGINzRvyQ": false, "redpanda.5e2f": false} {
		cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.ClusterID(id))
		defer cluster.Close()
		cl, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		if got, err := Embedded(t.Context(), cl); err != nil || got != want {
			t.Errorf("cluster %s: embedded is %t, error %v, want %t", id, got, err, want)
		}
	}
}
