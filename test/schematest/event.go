package schematest

import (
	"fmt"

	"github.com/anabranch/anabranch/schemas"
)

// Event returns an event of type t as ingest writes it, white space and the order
// of its keys apart, under a message id of its own. For delete it is the
// notification of a deletion.
func (g *Generator) Event(t schemas.Type) []byte {
	g.text.Reset()
	g.beyond = false
	keys := []func(){
		func() { g.key("type"); g.quote(string(t)) },
		func() { g.key("messageId"); g.quote(fmt.Sprintf("m-%016x", g.rand.Uint64())) },
		func() { g.key("timestamp"); g.quote("2026-11-21T01:04:29.457Z") },
	}
	if t == schemas.TypeDelete {
		keys = append(keys, g.given("userId"))
	} else {
		keys = append(keys, g.user(t)...)
		keys = append(keys, g.described(t)...)
	}
	g.rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	g.list('{', '}', keys)
	return []byte(g.text.String())
}

// given returns what writes an id, or the name of an event: a string that is not
// empty.
func (g *Generator) given(key string) func() {
	return func() { g.key(key); g.quote(g.pick("u", "019mr8mf4r", " ", "\U0001F600", `\"\\\n`, "0")) }
}

// user returns the ids: one of the user's two, or both, and what the type asks
// for.
func (g *Generator) user(t schemas.Type) []func() {
	keys := []func(){g.given("userId")}
	switch {
	case g.oneIn(3):
		keys = append(keys, g.given("anonymousId"))
	case t != schemas.TypeAlias && g.oneIn(2):
		keys[0] = g.given("anonymousId")
	}
	if needed := needs[t]; needed != "" {
		keys = append(keys, g.given(needed))
	}
	return keys
}

// described returns what the event may have beside.
func (g *Generator) described(t schemas.Type) (keys []func()) {
	maybe := func(key string, value func()) {
		if g.oneIn(2) {
			keys = append(keys, func() { g.key(key); value() })
		}
	}
	maybe("context", g.plainMap)
	maybe("integrations", g.plainMap)
	maybe("receivedAt", func() { g.quote("2026-11-21T01:04:30.000Z") })
	maybe("channel", func() { g.value(1) })
	switch t {
	case schemas.TypeIdentify, schemas.TypeGroup:
		maybe("traits", g.plainMap)
		maybe("properties", func() { g.value(2) })
	case schemas.TypePage, schemas.TypeScreen:
		maybe("properties", g.plainMap)
		maybe("name", func() { g.text.WriteString(g.pick("null", `""`, `"Main"`)) })
		maybe("category", func() { g.text.WriteString(g.pick(`""`, `"Docs"`)) })
	case schemas.TypeTrack:
		maybe("properties", g.plainMap)
		maybe("name", func() { g.value(1) })
		maybe("category", func() { g.value(1) })
	case schemas.TypeAlias, schemas.TypeDelete:
	}
	return keys
}

func (g *Generator) plainMap() {
	g.list('{', '}', g.parts(func() {
		g.key(g.pick("plan", "10", "9", "traits", "total billed", "ü"))
		g.value(2)
	}))
}
