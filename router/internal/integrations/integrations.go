// Package integrations reads the map with which a call selects its destinations.
package integrations

import (
	"fmt"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// Filter reads integrations maps. It is reused from event to event, by one
// goroutine, because the reader's memory is larger than most maps.
type Filter struct {
	reader stablejson.Reader
	value  []byte
}

// Enabled applies a call's integrations map to the destination name (spec.md,
// "Selecting destinations"; the name in exact case): the destination's own key
// decides when it is there, and only the boolean false disables. Else All, or
// all, decides when it is a boolean. Else the destination is enabled, as it is
// without a map. by is the key that decided; empty: none did. An error means that the
// header is no JSON object.
func (f *Filter) Enabled(integrations []byte, name string) (on bool, by string, err error) {
	if len(integrations) == 0 {
		return true, "", nil
	}
	var m verdicts
	f.reader.Reset(integrations)
	err = f.reader.Members(func(key []byte) (err error) {
		if f.value, err = f.reader.Append(f.value[:0]); err != nil {
			return err
		}
		m.note(string(key), name, f.value)
		return nil
	})
	if err == nil {
		err = f.reader.End()
	}
	if err != nil {
		return false, "", fmt.Errorf("decode integrations: %w", err)
	}
	on, by = m.enabled(name)
	return on, by, nil
}

// The keys for all destinations.
const keyAll, keySmall = "All", "all"

// answer is what one key of the map says.
type answer uint8

const (
	silent answer = iota
	yes
	no
)

// verdicts collects what the three keys that count say. The capital All goes
// before all, which one SDK sends, wherever in the map they stand.
type verdicts struct{ own, capital, small answer }

func (v *verdicts) note(key, name string, value []byte) {
	switch key {
	case name:
		v.own = yes
		if string(value) == "false" {
			v.own = no
		}
	case keyAll:
		v.capital = boolean(value)
	case keySmall:
		v.small = boolean(value)
	}
}

func boolean(value []byte) answer {
	switch string(value) {
	case "true":
		return yes
	case "false":
		return no
	default:
		return silent
	}
}

func (v *verdicts) enabled(name string) (on bool, by string) {
	switch {
	case v.own != silent:
		return v.own == yes, name
	case v.capital != silent:
		return v.capital == yes, keyAll
	case v.small != silent:
		return v.small == yes, keySmall
	default:
		return true, ""
	}
}
