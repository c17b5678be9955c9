package decode

import (
	"testing"

	"github.com/anabranch/anabranch/ingest/internal/decode/internal/member"
	"github.com/anabranch/anabranch/internal/stablejson"
)

func TestLongNumericIDsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"userId":1234567890123456789}`:                              `"1234567890123456789"`,
		`{"userId":9007199254740993}`:                                 `"9007199254740993"`,
		`{"userId": -9007199254740993 }`:                              `"-9007199254740993"`,
		`{"userId":1,"userId":9007199254740993}`:                      `"9007199254740993"`,
		`{"user\u0049d":9007199254740993}`:                            `"9007199254740993"`,
		`{"userId":"9007199254740993"}`:                               `"9007199254740993"`,
		`{"a":{"userId":1},"userId":12345678901234567}`:               `"12345678901234567"`,
		`{"userId":42}`:                                               `42`,
		`{"userId":123456789012345}`:                                  `123456789012345`,
		`{"userId":99999999999999999999999}`:                          `"99999999999999999999999"`,
		`{"userId":1000000000000000000000000000001}`:                  `"1000000000000000000000000000001"`,
		`{"userId":1e30}`:                                             `1e+30`,
		`{"userId":0.0000001}`:                                        `1e-7`,
		`{"userId":1e20}`:                                             `100000000000000000000`,
		`{"userId":9007199254740993.0}`:                               `9007199254740992`,
		`{"userId":9007199254740993,"userId":null}`:                   `null`,
		`{"userId":123456789012345678901234567890123456789012345678}`: `"123456789012345678901234567890123456789012345678"`,
	} {
		var c call
		if err := c.members.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		c.keepDigits([]byte(text))
		if got := string(c.members.Get(keyUserID)); got != want {
			t.Errorf("%s: userId became %s, want %s", text, got, want)
		}
	}
}

// What stays a number becomes the string of its stable form.
func TestShortNumericIDsBecomeStrings(t *testing.T) {
	t.Parallel()
	id, ok := member.ID(stablejson.AppendFloat(nil, 42), nil)
	if !ok || string(id) != `"42"` {
		t.Errorf("member.ID(42) = %s, %v", id, ok)
	}
}
