package topics

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestCheckFindsWhatDiffers and leaves it as it is.
func TestCheckFindsWhatDiffers(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	topics := New(cl, topicConfig)
	if found, err := topics.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Check without topics = %v, %v", found, err)
	}
	if err := topics.Ensure(t.Context(), everyTopic()...); err != nil {
		t.Fatal(err)
	}
	if found, err := topics.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Check of new topics = %v, %v", found, err)
	}
	admin := kadm.NewClient(cl)
	short := "60000"
	changes := []kadm.AlterConfig{{Name: policy.RetentionMs, Value: &short}}
	if _, err := admin.AlterTopicConfigs(t.Context(), changes, schemas.DeliverTopic("crm")); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CreatePartitions(t.Context(), 3, schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time too: nothing was mended
		var found []policy.Mismatch
		testkit.Until(t, func() bool {
			var err error
			if found, err = New(cluster.Client(t), topicConfig).Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			return len(found) == 2
		}, "both changes to be found")
		for i, want := range []string{"topic deliver.crm: retention.ms is 60000", "topic raw-events: partitions is 7, expected 4"} {
			if got := found[i].String(); !strings.HasPrefix(got, want) || !found[i].Grave {
				t.Errorf("Check found %q, want %q and that it is grave", got, want)
			}
		}
	}
}

// TestCheckWithoutPermission compares what everybody may see.
func TestCheckWithoutPermission(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	cl := cluster.Client(t)
	if err := New(cl, topicConfig).Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	hideSettings(cluster)
	other := topicConfig
	other.Partitions, other.RawRetention = 2, 2*other.RawRetention
	found, err := New(cl, other).Check(t.Context())
	if !errors.Is(err, ErrUndescribed) || len(found) != 1 || found[0].Setting != "partitions" {
		t.Errorf("Check = %v, %v, want the partitions alone, and why", found, err)
	}
}

// hideSettings has the broker refuse every look at the settings of topics.
func hideSettings(cluster *testkit.Cluster) {
	cluster.Fake.ControlKey(kmsg.DescribeConfigs.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.Fake.KeepControl()
		resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, asked := range req.(*kmsg.DescribeConfigsRequest).Resources {
			r := kmsg.NewDescribeConfigsResponseResource()
			r.ResourceType, r.ResourceName, r.ErrorCode = asked.ResourceType, asked.ResourceName, kerr.TopicAuthorizationFailed.Code
			resp.Resources = append(resp.Resources, r)
		}
		return resp, nil, true
	})
}

// TestCheckWithoutBrokers finds nothing and says why.
func TestCheckWithoutBrokers(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.NumBrokers(1))
	cl := cluster.Client(t, kgo.RequestRetries(0))
	cluster.Fake.Close()
	if found, err := New(cl, topicConfig).Check(t.Context()); err == nil || found != nil {
		t.Errorf("Check = %v, %v, want an error alone", found, err)
	}
}
