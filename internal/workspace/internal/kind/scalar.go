package kind

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// bounds reads the tags min and max, of which there are both or none. What can't be
// read is a mistake in the program.
func (s *Shape) bounds(least, most string) (from, to int64) {
	if least+most == "" {
		return 0, 0
	}
	from, err := s.number(least)
	if err == nil {
		to, err = s.number(most)
	}
	if err != nil || from >= to {
		panic(fmt.Sprintf("declaration of %s: no bounds %q and %q", s.Key, least, most))
	}
	return from, to
}

// number reads a Number or a Duration.
func (s *Shape) number(text string) (int64, error) {
	if s.Form == Number {
		return strconv.ParseInt(text, 10, s.Type.Bits())
	}
	d, err := time.ParseDuration(text)
	return int64(d), err
}

// format is the inverse of number.
func (s *Shape) format(n int64) string {
	if s.Form == Number {
		return strconv.FormatInt(n, 10)
	}
	text := time.Duration(n).String() // "24h0m0s"
	for _, nothing := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, nothing) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Set gives a text to a value. The answer is what was expected instead.
func (s *Shape) Set(to reflect.Value, text string) (objection string) {
	switch s.Form {
	case Number, Duration:
		n, err := s.number(text)
		if err != nil || (s.Min != 0 || s.Max != 0) && (n < s.Min || n > s.Max) {
			return s.Want
		}
		to.SetInt(n)
	default:
		if own, ok := reflect.TypeAssert[encoding.TextUnmarshaler](to.Addr()); ok {
			if err := own.UnmarshalText([]byte(text)); err != nil {
				return err.Error()
			}
			return ""
		}
		to.SetString(text)
	}
	return ""
}

// Get returns the text of a value as records hold it, secrets included.
func (s *Shape) Get(v reflect.Value) (string, error) {
	if s.Form == Number || s.Form == Duration {
		return s.format(v.Int()), nil
	}
	// Kind before methods: those of a secret hide it.
	if v.Kind() == reflect.String {
		return v.String(), nil
	}
	own, ok := reflect.TypeAssert[encoding.TextMarshaler](v)
	if !ok {
		return "", fmt.Errorf("%s has no text", s.Type)
	}
	text, err := own.MarshalText()
	return string(text), err
}
