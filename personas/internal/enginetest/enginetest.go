package enginetest

import (
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// Shop is the definitions of a shop: of 20 audiences ten count events of the last days,
// four add up revenue, three look at a while ago, and three at traits; there are five
// computed traits. With n above 20 they come again with other events.
func Shop(n int) engine.Definitions {
	var d engine.Definitions
	common := func(kind string, i int) definition.Common {
		return definition.Common{ID: fmt.Sprintf("%s_%d", kind, i), Enabled: true, History: definition.History{Full: true}}
	}
	event := func(i int, w definition.Window) definition.Event {
		return definition.Event{Type: definition.Track, Name: fmt.Sprintf("Event %d", i), Window: w}
	}
	within := func(days int) definition.Window {
		return definition.Window{Kind: definition.Within, Far: time.Duration(days) * 24 * time.Hour}
	}
	gte := func(f float64) definition.Test { return definition.Test{{Op: definition.Gte, Values: number(f)}} }
	for i := range n {
		did := &definition.Did{Take: definition.Count, Is: gte(float64(1 + i%3))}
		leaf := &definition.Leaf{Did: did}
		turn := i / 20 * 6
		switch i % 20 {
		case 10, 11, 12, 13:
			did.Event, did.Take, did.Of, did.Is = event(turn, within(30*(i%3+1))), definition.Sum, definition.Path{"total"}, gte(500)
		case 14, 15, 16:
			did.Event = event(turn+1, definition.Window{Kind: definition.Between, Far: 90 * 24 * time.Hour, Near: 30 * 24 * time.Hour})
		case 17, 18, 19:
			leaf = &definition.Leaf{Trait: definition.Path{fmt.Sprintf("trait_%d", i%3)}, Is: definition.Test{{Op: definition.Eq, Values: []definition.Value{{Kind: definition.Text, Text: "pro"}}}}}
		default:
			did.Event = event(turn+i%6, within(7+i%20*3))
		}
		cond := definition.Cond{Leaf: leaf}
		if i%5 == 1 {
			never := &definition.Leaf{Did: &definition.Did{Event: event(turn+(i+1)%6, within(14)), Take: definition.Count, Is: definition.Test{{Op: definition.Eq, Values: number(0)}}}}
			cond = definition.Cond{Any: []definition.Cond{cond, {Leaf: never}}}
		}
		d.Audiences = append(d.Audiences, engine.Audience{Audience: definition.Audience{Common: common("audience", i), When: cond}, Version: 1})
	}
	for i, t := range []definition.Trait{
		{Take: definition.Count, Event: event(0, within(30))},
		{Take: definition.Sum, Of: definition.Path{"total"}, Event: event(0, definition.Window{})},
		{Take: definition.MostFrequent, Of: definition.Path{"category"}, Event: event(1, definition.Window{})},
		{Take: definition.Unique, Of: definition.Path{"category"}, Event: event(1, within(90))},
		{Take: definition.Last, Of: definition.Path{"category"}, Event: event(2, definition.Window{})},
	} {
		t.Common = common("computed", i)
		d.Traits = append(d.Traits, engine.Trait{Trait: t, Version: 1})
	}
	return d
}

// Visit returns one of six track calls of a browser library, of some 1,000 bytes.
func Visit(i int, user string, at time.Time) []byte {
	return fmt.Appendf(nil, `{"type":"track","event":"Event %d","userId":%q,"anonymousId":"8d3f4a52-7c19-4b6e-9a51-0f2c6d7e8b90",`+
		`"messageId":"ajs-next-1795223069458-a013c080-32c9-4278-bae2-95808ccc4edf","timestamp":"%s","context":{"library":{"name":"analytics.js","version":"2.11.1"},`+
		`"ip":"203.0.113.17","userAgent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36","locale":"en-US",`+
		`"page":{"path":"/checkout/done","referrer":"https://shop.example.com/cart","title":"Thank you — Order","url":"https://shop.example.com/checkout/done?step=4"}},`+
		`"integrations":{"All":true},"properties":{"orderId":"o-90210","total":%d.95,"category":"category %d","currency":"EUR","coupon":null,"gift":false,`+
		`"products":[{"productId":"p-1","name":"Kettle","price":49.95,"quantity":1},{"productId":"p-2","name":"Tea, loose","price":25,"quantity":4}]}}`,
		i%6, user, at.UTC().Format(schemas.TimeLayout), i%90, i%7)
}

// VisitHeaders are those of its record.
var VisitHeaders = &schemas.Headers{Type: schemas.TypeTrack, Source: "website", MessageID: "m", Origin: schemas.OriginAPI}

func number(n float64) []definition.Value {
	return []definition.Value{{Kind: definition.Number, Number: n}}
}
