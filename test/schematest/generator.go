package schematest

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/schemas"
)

// Generator makes JSON texts. It is for one goroutine.
type Generator struct {
	rand   *rand.Rand
	text   strings.Builder
	beyond bool // allow numbers beyond float64
}

// New returns a generator whose texts depend on the seed alone.
func New(seed uint64) *Generator {
	return &Generator{rand: rand.New(rand.NewPCG(seed, seed))} //nolint:gosec // G404: a test wants the same texts again
}

// Type returns a type that the API accepts.
func (g *Generator) Type() schemas.Type {
	return schemas.Type(g.pick("identify", "track", "page", "screen", "group", "alias"))
}

// member is a key of a call with what a client ordinarily sends under it.
type member struct {
	key      string
	ordinary func(g *Generator)
	present  int // in ten calls that have no need of it
}

// members are the keys that mean something to ingest, and two that do not.
var members = []member{
	{"type", (*Generator).typeName, 6},
	{"messageId", (*Generator).name, 7},
	{"userId", (*Generator).id, 7},
	{"anonymousId", (*Generator).id, 5},
	{"groupId", (*Generator).id, 2},
	{"previousId", (*Generator).id, 2},
	{"event", (*Generator).name, 2},
	{"name", (*Generator).name, 2},
	{"category", (*Generator).name, 2},
	{"properties", (*Generator).object, 4},
	{"traits", (*Generator).object, 4},
	{"timestamp", (*Generator).instant, 5},
	{"originalTimestamp", (*Generator).instant, 2},
	{"sentAt", (*Generator).instant, 4},
	{"receivedAt", (*Generator).instant, 1},
	{"context", (*Generator).object, 5},
	{"integrations", (*Generator).integrations, 3},
	{"writeKey", (*Generator).name, 2},
	{"channel", (*Generator).name, 1},
	{"_metadata", (*Generator).object, 1},
}

// needs are the keys without which a call of a type is not accepted, but for the
// user's id, of which there are two.
var needs = map[schemas.Type]string{
	schemas.TypeTrack: "event",
	schemas.TypeGroup: "groupId",
	schemas.TypeAlias: "previousId",
}

// Call returns the text of one call of type t. It may say another type, or none,
// when it is not meant for a batch.
func (g *Generator) Call(t schemas.Type, inBatch bool) []byte {
	g.text.Reset()
	g.beyond = true
	g.call(t, inBatch)
	g.space()
	return []byte(g.text.String())
}

func (g *Generator) call(t schemas.Type, inBatch bool) {
	g.space()
	if g.oneIn(200) {
		g.value(1) // not even an object, as a rule
		return
	}
	var keys []func()
	for _, m := range members {
		needed := needs[t] == m.key || inBatch && m.key == "type"
		if !needed && g.rand.IntN(10) >= m.present || needed && g.oneIn(20) {
			continue
		}
		keys = append(keys, func() { g.member(m, t) })
		if g.oneIn(30) { // the last one counts
			keys = append(keys, func() { g.member(m, t) })
		}
	}
	if g.oneIn(10) {
		keys = append(keys, func() { g.free() })
	}
	g.rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	g.list('{', '}', keys)
}

// member writes a key with its value: mostly an ordinary one, else any.
func (g *Generator) member(m member, t schemas.Type) {
	g.key(m.key)
	switch {
	case g.oneIn(12):
		g.odd()
	case m.key == "type" && !g.oneIn(40):
		g.quote(string(t))
	default:
		m.ordinary(g)
	}
}

// free writes a key that means nothing here.
func (g *Generator) free() {
	g.key(g.pick("sequence", "UserId", "userid", "event ", "__proto__", "0", "17", "", "é"))
	g.value(2)
}

// Batch returns the text of a batch request of up to size calls of any types.
func (g *Generator) Batch(size int) []byte {
	g.text.Reset()
	g.beyond = true
	keys := []func(){func() { g.key("batch"); g.calls(size) }}
	for _, key := range []string{"context", "integrations", "sentAt", "writeKey", "messageId"} {
		if g.oneIn(3) {
			keys = append(keys, func() { g.key(key); g.value(2) })
		}
	}
	if g.oneIn(40) {
		keys[0] = func() { g.key(g.pick("batch", "batch", "Batch", "")); g.odd() }
	}
	g.rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	g.list('{', '}', keys)
	return []byte(g.text.String())
}

func (g *Generator) calls(size int) {
	call := func() { g.call(g.Type(), true) }
	g.list('[', ']', slices.Repeat([]func(){call}, g.rand.IntN(size+1)))
}

func (g *Generator) oneIn(n int) bool { return g.rand.IntN(n) == 0 }

func (g *Generator) pick(from ...string) string { return from[g.rand.IntN(len(from))] }

// key writes a key and a colon; one spelled with an escape is the same key.
func (g *Generator) key(key string) {
	if key != "" && g.oneIn(50) {
		at := g.rand.IntN(len(key))
		if c := key[at]; c < 0x80 {
			g.text.WriteString(`"` + key[:at] + `\u00` + strconv.FormatInt(int64(c), 16) + key[at+1:] + `"`)
			g.text.WriteByte(':')
			return
		}
	}
	g.quote(key)
	g.space()
	g.text.WriteByte(':')
	g.space()
}

func (g *Generator) quote(text string) { g.text.WriteString(`"` + text + `"`) }

func (g *Generator) list(opening, closing byte, parts []func()) {
	g.text.WriteByte(opening)
	for i, part := range parts {
		if i > 0 {
			g.text.WriteByte(',')
		}
		g.space()
		part()
		g.space()
	}
	g.text.WriteByte(closing)
}

func (g *Generator) space() {
	if g.oneIn(16) {
		g.text.WriteString(g.pick(" ", "\t", "\n", "\r\n", "  "))
	}
}
