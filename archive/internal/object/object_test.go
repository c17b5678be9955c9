package object

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func record(offset int64, source string, received time.Time, value string) *kgo.Record {
	r := &kgo.Record{Topic: "deliver.archive.cold", Partition: 3, Offset: offset, Timestamp: noon, Value: []byte(value)}
	kafka.SetHeaders(r, &schemas.Headers{Source: source, Type: schemas.TypeTrack, Received: received})
	return r
}

func text(t *testing.T, o *Object) string {
	t.Helper()
	in, err := gzip.NewReader(bytes.NewReader(o.Body))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(lines)
}

func TestObjects(t *testing.T) {
	t.Parallel()
	poison := record(5, "", noon, `{"a":5}`)
	poison.Headers = append(poison.Headers, kgo.RecordHeader{Key: "version", Value: []byte("x")})
	records := []*kgo.Record{
		record(0, "website", noon, `{"a":0}`),
		record(1, "app", noon, `{"a":1}`),
		record(2, "website", noon.Add(12*time.Hour), `{"a":2}`),
		record(3, "website", noon, `{"a":3}`),
		record(4, "app", time.Time{}, "{\"a\":4,\r\n\"b\":\"é\"}"),
		poison,
	}
	build := func() []Object {
		b := New(3, 0, 9)
		for _, r := range records {
			if err := b.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		all, err := b.Objects()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	const name = "3-00000000000000000000-00000000000000000009.ndjson.gz"
	want := []struct{ name, lines string }{
		{"_unreadable/2026-11-23/" + name, "{\"a\":5}\n"},
		{"app/2026-11-23/" + name, "{\"a\":1}\n{\"a\":4,  \"b\":\"é\"}\n"},
		{"website/2026-11-23/" + name, "{\"a\":0}\n{\"a\":3}\n"},
		{"website/2026-11-24/" + name, "{\"a\":2}\n"},
	}
	all, again := build(), build()
	if len(all) != len(want) {
		t.Fatalf("%d objects, want %d", len(all), len(want))
	}
	for i := range all {
		o := &all[i]
		if got := text(t, o); o.Name.String() != want[i].name || got != want[i].lines || o.Bytes != len(got) || o.Lines != bytes.Count([]byte(got), []byte{'\n'}) {
			t.Errorf("%s: %q of %d bytes, %d lines; want %s: %q", o.Name, got, o.Bytes, o.Lines, want[i].name, want[i].lines)
		}
		if !bytes.Equal(o.Body, again[i].Body) {
			t.Errorf("%s has other bytes the second time", o.Name)
		}
	}
	if got := Dir(records[2]); got != "website/2026-11-24" {
		t.Errorf("directory %s", got)
	}
}

func BenchmarkObjects(b *testing.B) {
	value := fmt.Appendf(nil, `{"anonymousId":"a","context":{"library":{"name":"analytics.js","version":"2.1"},"ip":"10.0.0.1"},"event":"Order Completed","properties":{"revenue":12.5,"sku":"%032d"},"type":"track"}`, 7)
	b.SetBytes(int64(len(value)))
	objects := New(0, 0, 1)
	r := record(0, "website", noon, string(value))
	for b.Loop() {
		if err := objects.Add(r); err != nil {
			b.Fatal(err)
		}
	}
}
