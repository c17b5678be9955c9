package ranges_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// scanned are the values that hold a text, of what a scan hands out.
func scanned(t *testing.T, cl *kgo.Client, spans []*ranges.Span, texts ...string) (got []string) {
	t.Helper()
	wanted := make([][]byte, len(texts))
	for i, text := range texts {
		wanted[i] = []byte(text)
	}
	err := ranges.Scan(t.Context(), cl, spans, wanted, func(r *kgo.Record) error {
		if value := string(r.Value); slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(value, text) }) {
			got = append(got, value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range spans {
		if !s.Done() {
			t.Errorf("%+v is not read to its end", s)
		}
	}
	slices.Sort(got)
	return got
}

// TestScan finds what is committed and holds a text, however batches are compressed, and in
// ranges that begin and end anywhere.
func TestScan(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("scan")
	c.CreateTopics(t, 1, topic)
	all := transactions(t, c, topic)
	cl := c.Client(t)
	for _, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		writer := c.Client(t, kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(topic))
		value := fmt.Sprint("7-compressed", codec, strings.Repeat("y", 4000))
		all = append(all, value)
		if err := writer.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for _, texts := range [][]string{{"7-"}, {"59-4"}, {"1-0", "2-0"}, {"nowhere"}} {
		want := slices.DeleteFunc(slices.Clone(all), func(value string) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(value, text) })
		})
		slices.Sort(want)
		if got := scanned(t, cl, spansOf(t, c, topic), texts...); !slices.Equal(got, want) {
			t.Errorf("with %q (-want +got):\n%s", texts, cmp.Diff(want, got))
		}
	}
	var within []string
	for _, r := range c.ReadAll(t, topic, len(all)) {
		if r.Offset >= 20 && r.Offset < 41 {
			within = append(within, string(r.Value))
		}
	}
	slices.Sort(within)
	part := &ranges.Span{Topic: topic, Next: 20, End: 41}
	if diff := cmp.Diff(within, scanned(t, cl, []*ranges.Span{part}, "x")); diff != "" || part.Records != len(within) {
		t.Errorf("of a part of it: %d records (-want +got):\n%s", part.Records, diff)
	}
}

func TestScanOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("scandeleted")
	c.CreateTopics(t, 1, topic)
	c.Fill(t, topic, 0, 5)
	spans := spansOf(t, c, topic)
	c.DeleteBefore(t, topic, 3)
	err := ranges.Scan(t.Context(), c.Client(t), spans, [][]byte{nil}, func(*kgo.Record) error { return nil })
	if err != nil || spans[0].Deleted != 3 || spans[0].Records != 2 || !spans[0].Done() {
		t.Errorf("%v, %+v", err, spans[0])
	}
}

func TestScanFails(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("scanfails")
	c.CreateTopics(t, 1, topic)
	c.Fill(t, topic, 0, 5)
	cl := c.Client(t)
	scan := func(ctx context.Context, span *ranges.Span, each func(*kgo.Record) error) error {
		return ranges.Scan(ctx, cl, []*ranges.Span{span}, [][]byte{nil}, each)
	}
	whole := func() *ranges.Span { return &ranges.Span{Topic: topic, End: 5} }
	if err := scan(t.Context(), whole(), func(r *kgo.Record) error { return fmt.Errorf("enough at %d", r.Offset) }); err == nil || !strings.Contains(err.Error(), "enough at 0") {
		t.Errorf("an error of each: %v", err)
	}
	beyond := whole()
	beyond.End = 9
	if err := scan(t.Context(), beyond, func(*kgo.Record) error { return nil }); err == nil || !strings.Contains(err.Error(), "committed records end at 5") {
		t.Errorf("beyond the end: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // it may be one that a broker has not heard of yet
	defer cancel()
	if err := scan(ctx, &ranges.Span{Topic: topic, Partition: 7, End: 5}, func(*kgo.Record) error { return nil }); err == nil {
		t.Error("a partition that is missing is no error")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := scan(stopped, whole(), func(*kgo.Record) error { return nil }); err == nil {
		t.Error("the end of its context is no error")
	}
	if err := ranges.Scan(t.Context(), cl, nil, nil, nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}
