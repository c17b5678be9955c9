package ingest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/body"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/ingest/internal/store"
	"github.com/anabranch/anabranch/schemas"
)

// benchEvent is a track call of one kilobyte in the shape that a browser's
// library sends.
func benchEvent(user int) string {
	return fmt.Sprintf(`{"type":"track","event":"Order Completed","userId":"user-%d","anonymousId":"8d3f4a52-7c19-4b6e-9a51-0f2c6d7e8b90","messageId":"ajs-next-1795223069458-a013c080-32c9-4278-bae2-%012d","timestamp":"2026-11-21T01:04:29.457Z","context":{"library":{"name":"analytics.js","version":"2.11.1"},"ip":"203.0.113.17","userAgent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36","locale":"en-US","page":{"path":"/checkout/done","referrer":"https://shop.example.com/cart","title":"Thank you — Order","url":"https://shop.example.com/checkout/done?step=4"}},"integrations":{"All":true},"properties":{"orderId":"o-%d","total":149.95,"revenue":129.5,"currency":"EUR","coupon":null,"gift":false,"products":[{"productId":"p-1","name":"Kettle","price":49.95,"quantity":1},{"productId":"p-2","name":"Tea, loose","price":25,"quantity":4}],"note":"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor."}}`, user, user, user)
}

func BenchmarkDecodeSingle(b *testing.B) {
	benchDecode(b, schemas.TypeTrack, benchEvent(1), 1)
}

func BenchmarkDecodeBatch20(b *testing.B) { benchDecode(b, "", benchBatch(), 20) }

// BenchmarkDecodeBatch20FromPage has an address to put into each event.
func BenchmarkDecodeBatch20FromPage(b *testing.B) {
	batch := strings.ReplaceAll(benchBatch(), `"ip":"203.0.113.17",`, "")
	benchDecode(b, "", batch, 20, decode.Terms{IP: netip.MustParseAddr("203.0.113.17"), FillIP: true})
}

func benchBatch() string {
	events := make([]string, 20)
	for i := range events {
		events[i] = benchEvent(i)
	}
	return `{"batch":[` + strings.Join(events, ",") + `],"sentAt":"2026-11-21T01:04:29.622Z"}`
}

// BenchmarkReceive measures what is done to a body before it is decoded.
func BenchmarkReceive(b *testing.B) {
	for name, text := range map[string]string{
		"single": benchEvent(1), "single gzip": compress(benchEvent(1)), "batch20": benchBatch(), "batch20 gzip": compress(benchBatch()),
	} {
		b.Run(name, func(b *testing.B) {
			var pool body.Pool
			r := httptest.NewRequest(http.MethodPost, "/v1/batch", nil)
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(strings.NewReader(text))
				received := pool.Get()
				if err := received.Receive(r, schemas.MaxBatchBytes, body.Sender{}); err != nil {
					b.Fatal(err)
				}
				if _, err := received.Text(); err != nil {
					b.Fatal(err)
				}
				pool.Put(received)
			}
		})
	}
}

// benchDecode measures all that is done to a body between the socket and the
// client's buffer.
func benchDecode(b *testing.B, path schemas.Type, text string, events int, terms ...decode.Terms) {
	b.Helper()
	raw, on := []byte(text), decode.Terms{}
	for _, t := range terms {
		on = t
	}
	on.ReceivedAt = time.UnixMilli(1_795_223_069_999)
	d := new(decode.Decoder)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(raw, path); err != nil {
			b.Fatal(err)
		}
		if rejected, err := d.Accept(on); err != nil || rejected != nil {
			b.Fatal(rejected, err)
		}
		accepted := d.Events()
		if accepted.Len() != events {
			b.Fatal(accepted.Len())
		}
		_ = store.NewBatch("website", accepted)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
}
