package ingest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// FuzzDecode gives any bytes to every endpoint. What is accepted must be what
// the stages behind rely on; what is not must be an answer.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"userId":"u","event":"e"}`,
		`{"batch":[{"type":"track","event":"e","userId":1,"messageId":2,"timestamp":3},null,{"type":"alias"}],"sentAt":"x","context":{"a":{}},"integrations":{"All":false}}`,
		`{"batch":[{"type":"page","anonymousId":"\ud800","context":[],"integrations":{"0":1,"b":2}}],"writeKey":"k","context":{"1":2},"batch":[{"type":"identify","userId":"\u0000"}]}`,
		`{"batch":[` + `[[[[[[[[[[[[[[[[` + `]}`,
		`{"userId":"u","groupId":1e999,"previousId":"p","event":"","name":[],"traits":[],"properties":{"__proto__":1}}`,
		"{\"userId\":\"\xff\xfe\",\"event\":\"\\u0041\",\"writeKey\":\"secret\"} ",
	} {
		for kind := range byte(8) {
			f.Add([]byte(seed), kind)
		}
	}
	d := new(decoder)
	f.Fuzz(func(t *testing.T, body []byte, kind byte) {
		calls := []schemas.Type{"", schemas.TypeIdentify, schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias}
		e := endpoint{call: calls[int(kind)%len(calls)]}
		records, rejected, err := decode(d, e, bytes.Clone(body))
		if err != nil {
			p, ok := errors.AsType[*problem](err)
			if !ok || p.status < 400 || p.code == "" || p.message == "" {
				t.Fatalf("%q: %#v", body, err)
			}
			checkJSON(t, appendProblem(nil, p))
			return
		}
		checkJSON(t, appendSuccess(nil, rejected))
		if len(records) == 0 || len(records)+len(rejected) != len(d.calls) {
			t.Fatalf("%q: %d records and %d refusals of %d calls", body, len(records), len(rejected), len(d.calls))
		}
		for i := range records {
			checkRecord(t, &records[i])
		}
		again, _, err := decode(new(decoder), e, bytes.Clone(body))
		if err != nil || len(again) != len(records) || !bytes.Equal(again[0].Key, records[0].Key) {
			t.Fatalf("%q: another decoder has another result: %v", body, err)
		}
	})
}

func decode(d *decoder, e endpoint, body []byte) ([]kgo.Record, []refusal, error) {
	if err := d.parse(e, body); err != nil {
		return nil, nil, err
	}
	req := &request{source: "website", call: e.call, receivedAt: noon.UnixMilli()}
	rejected, err := d.accept(e, req)
	if err != nil {
		return nil, rejected, err
	}
	records, _ := d.records(req)
	return records, rejected, nil
}

func checkJSON(t *testing.T, text []byte) {
	t.Helper()
	if stable, err := stablejson.Append(nil, text); err != nil || !bytes.Equal(stable, text) {
		t.Fatalf("%q is not stable JSON: %v", text, err)
	}
}

func checkRecord(t *testing.T, r *kgo.Record) {
	t.Helper()
	checkJSON(t, r.Value)
	h, err := kafka.HeadersOf(r)
	if err != nil {
		t.Fatalf("%q: %v", r.Value, err)
	}
	var o stablejson.Object
	if err := o.Parse(r.Value); err != nil {
		t.Fatal(err)
	}
	if id, _ := stablejson.Text(o.Get("messageId")); id == "" || id != h.MessageID {
		t.Fatalf("%q: messageId header is %q", r.Value, h.MessageID)
	}
	if name, _ := stablejson.Text(o.Get("type")); name != string(h.Type) {
		t.Fatalf("%q: type header is %q", r.Value, h.Type)
	}
	if key, _ := stablejson.Text(identity(&o)); key == "" || key != string(r.Key) {
		t.Fatalf("%q: key is %q", r.Value, r.Key)
	}
	if o.Get("writeKey") != nil {
		t.Fatalf("%q holds a write key", r.Value)
	}
	if m := o.Get("integrations"); len(m) > len(`{}`) && !bytes.Equal(m, h.Integrations) || len(h.Integrations) > 0 && m == nil {
		t.Fatalf("%q: integrations header is %s", r.Value, h.Integrations)
	}
	checkStamps(t, &o)
}

func checkStamps(t *testing.T, o *stablejson.Object) {
	t.Helper()
	for _, key := range []string{"timestamp", "receivedAt", "originalTimestamp", "sentAt"} {
		stamp := o.Get(key)
		if stamp == nil && key != "timestamp" && key != "receivedAt" {
			continue
		}
		if _, ok := parseTime(stamp); !ok || len(stamp) != len(`"`+schemas.TimeLayout+`"`) {
			t.Fatalf("%s is %s", key, stamp)
		}
	}
}
