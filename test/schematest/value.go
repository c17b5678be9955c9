package schematest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/schemas"
)

func (g *Generator) typeName() { g.quote(string(g.Type())) }

func (g *Generator) id() {
	switch g.rand.IntN(8) {
	case 0:
		fmt.Fprint(&g.text, g.rand.IntN(100_000))
	case 1:
		g.text.WriteString("null")
	default:
		g.quote(fmt.Sprintf("u%d", g.rand.IntN(1000)))
	}
}

func (g *Generator) name() {
	g.quote(g.pick("Signed Up", "Item Purchased", "m-17", "Ünï", "語", "a", `\"`, "Docs"))
}

func (g *Generator) instant() {
	g.text.WriteString(g.pick(`"2026-11-21T01:04:29.457Z"`, `"2026-11-21T01:08:14+0000"`, `"2012-12-02"`, `1795223069458`, `"soon"`, `null`))
}

func (g *Generator) object() {
	if g.oneIn(12) {
		g.text.WriteString(g.pick("{}", "[]", "null"))
		return
	}
	var parts []func()
	for range 1 + g.rand.IntN(3) {
		parts = append(parts, func() {
			g.key(g.pick("plan", "total", "10", "9", "ip", "traits", "ü"))
			g.value(2)
		})
	}
	g.list('{', '}', parts)
}

func (g *Generator) integrations() {
	g.text.WriteString(g.pick(`{}`, `{"All":true}`, `{"all":false}`, `{"All":false,"Webhooks":true}`, `{"Webhooks":{"a":1}}`, `[]`, `null`))
}

// odd writes a value of every shape that JSON has, with the borders of what is
// looked at: empty, long, large, deep.
func (g *Generator) odd() {
	switch g.rand.IntN(12) {
	case 0, 1:
		g.text.WriteString("null")
	case 2, 3:
		g.text.WriteString(`""`)
	case 4:
		g.text.WriteString("[]")
	case 5:
		g.text.WriteString("{}")
	case 6:
		g.longName()
	case 7:
		g.extreme()
	default:
		g.value(2)
	}
}

// longName writes a string of about as many characters as a messageId may have,
// in each of the ways in which one character is more than one byte.
func (g *Generator) longName() {
	chars := schemas.MaxMessageIDChars - 1 + g.rand.IntN(3)
	g.quote(strings.Repeat(g.pick("x", "é", "語", "😀", `\ud83d\ude00`, `\u0041`, `\n`, `\ud800`), chars))
}

// extreme writes, now and then, what is too much for a call.
func (g *Generator) extreme() {
	switch g.rand.IntN(60) {
	case 0:
		g.quote(strings.Repeat("x", schemas.MaxCallBytes-200+g.rand.IntN(300)))
	case 1:
		depth := schemas.MaxDepth - 3 + g.rand.IntN(5)
		g.text.WriteString(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	default:
		g.number()
	}
}

func (g *Generator) value(depth int) {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch g.rand.IntN(kinds) {
	case 0:
		g.text.WriteString(g.pick("null", "true", "false"))
	case 1:
		g.number()
	case 2, 3:
		g.quote(g.pick("", "x", "a b", `\u0000`, `\ud800`, `\ud83d\ude00`, "\u2028", "<&>", "null", "[]"))
	case 4:
		g.list('[', ']', g.parts(func() { g.value(depth - 1) }))
	default:
		g.list('{', '}', g.parts(func() {
			g.key(g.pick("a", "b", "1", "userId", "type"))
			g.value(depth - 1)
		}))
	}
}

func (g *Generator) parts(part func()) []func() {
	return slices.Repeat([]func(){part}, g.rand.IntN(4))
}

// number writes one of the numbers at which readers differ. One beyond float64
// is null to ECMAScript; no event has one.
func (g *Generator) number() {
	if g.beyond && g.oneIn(6) {
		g.text.WriteString(g.pick("1e999", "-1e999"))
		return
	}
	g.text.WriteString(g.pick("0", "-0", "7", "-1.50", "1e21", "1E2", "9007199254740993", "123456789012345678901234567890", "0.0000001", "1e-999"))
}
