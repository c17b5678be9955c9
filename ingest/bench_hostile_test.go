package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/schemas"
)

// hostileBatches are bodies of the largest size, each made of one thing that costs
// more than others do.
func hostileBatches() map[string]string {
	fill := func(head, element, foot string) string {
		n := (schemas.MaxBatchBytes - len(head) - len(foot)) / (len(element) + 1)
		return head + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + foot
	}
	array := func(element string) string {
		return fill(`{"batch":[{"type":"track","event":"e","userId":"u"}],"context":{"a":[`, element, `]}}`)
	}
	const call, levels = `{"type":"track","event":"e","userId":"u","properties":{"a":[`, schemas.MaxDepth - 5
	full := call + strings.TrimSuffix(strings.Repeat("1e-310,", 4600), ",") + `]}}`
	deep := strings.Repeat("[", levels+10) + strings.Repeat("]", levels+10)
	var keys strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&keys, `,"%d":0`, 99_999-i)
	}
	return map[string]string{
		"subnormal numbers":        array("1e-310"),
		"subnormal, in calls":      fill(`{"batch":[`, full, `]}`),
		"numbers of twenty digits": array("12345678901234567891e-300"),
		"numbers to print":         array("1.7976931348623157e308"),
		"numbers that grow":        array("1e20"),
		"ties":                     array("1125899906842624.125"),
		"numbers passed over":      fill(`{"batch":[{"type":"track","event":"e","userId":"u"}],"x":[`, "1e-310", `]}`),
		"long ids":                 fill(`{"batch":[`, `{"type":"alias","userId":12345678901234567890,"previousId":12345678901234567891,"groupId":12345678901234567892,"anonymousId":12345678901234567893,"messageId":12345678901234567894}`, `]}`),
		"long ids, long calls":     fill(`{"batch":[`, `{"type":"alias","userId":12345678901234567890,"previousId":12345678901234567891,"groupId":12345678901234567892,"anonymousId":12345678901234567893,"messageId":12345678901234567894,"x":[`+strings.TrimSuffix(strings.Repeat("1e-310,", 4600), ",")+`]}`, `]}`),
		"small calls":              fill(`{"batch":[`, `{"type":"identify","userId":"u"}`, `]}`),
		"empty calls":              fill(`{"batch":[`, `{}`, `]}`),
		"too deep calls":           fill(`{"batch":[`, `{"type":"track","event":"e","userId":"u","properties":{"a":`+deep+`}}`, `]}`),
		"keys out of order":        `{"batch":[{"type":"track","event":"e","userId":"u"}],"context":{"x":0` + keys.String() + `}}`,
		"one key again":            fill(`{"batch":[{"type":"track","event":"e","userId":"u"}],"context":{`, `"a":0`, `}}`),
		"small objects":            fill(`{"batch":[{"type":"track","event":"e","userId":"u"}],"context":{"a":[`, `{"a":0,"a":0}`, `]}}`),
		"batches again":            fill(`{`, `"batch":[{"type":"identify","userId":"u"}]`, `}`),
		"keys again":               fill(`{"batch":[{"type":"identify","userId":"u"}],`, `"writeKey":"x"`, `}`),
		"escapes":                  fill(`{"batch":[{"type":"track","event":"e","userId":"u"}],"context":{"a":[`, `"`+strings.Repeat(`\u0041`, 100)+`"`, `]}}`),
		"ill-formed text":          fill(`{"batch":[{"type":"track","event":"e","userId":"u"}],"context":{"a":[`, `"`+strings.Repeat("\xff", 100)+`"`, `]}}`),
		"a context for each":       fill(`{"context":{"a":"`+strings.Repeat("x", 3000)+`"},"batch":[`, `{"type":"identify","userId":"u","context":{"b":1}}`, `]}`),
		"empty strings":            array(`""`),
		"empty arrays":             array(`[]`),
	}
}

// BenchmarkHostileBatches shows that no body costs out of proportion: compare MB/s
// with BenchmarkDecodeBatch20. None may be below 20.
func BenchmarkHostileBatches(b *testing.B) {
	for name, text := range hostileBatches() {
		b.Run(name, func(b *testing.B) {
			d, raw := new(decode.Decoder), make([]byte, len(text))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				copy(raw, text) // a part is cut out of what is too deep
				if err := d.Parse(raw, ""); err != nil {
					b.Fatal(err)
				}
				_, _ = d.Accept(decode.Terms{ReceivedAt: time.UnixMilli(1_795_223_069_999)})
			}
		})
	}
}
