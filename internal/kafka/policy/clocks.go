package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// compareClocks tells which topics go by the clocks of those that write to them. Ones
// that an earlier release created do, all of them, so it is one mismatch that names
// the first and counts the others.
func (c Config) compareClocks(states map[string]State) []Mismatch {
	var writers []string
	least := forever
	for _, name := range slices.Sorted(maps.Keys(states)) {
		have := states[name].Configs
		if now, known := have[TimestampType]; !known || now == c.optional(name)[TimestampType] || c.Embedded {
			continue
		}
		writers = append(writers, name)
		least = min(least, milliseconds(have[timestampAhead]))
	}
	if len(writers) == 0 {
		return nil
	}
	m := Mismatch{Topic: writers[0], Setting: TimestampType, Want: brokersClock, Have: states[writers[0]].Configs[TimestampType]}
	m.Meaning = "how long records are kept depends on the clocks of the machines that write them"
	if least < forever {
		m.Meaning = fmt.Sprintf("records of a machine whose clock is more than %s ahead of the brokers' are refused (%s), and %s", least, timestampAhead, m.Meaning)
	}
	m.Advice = alter(m.Topic, TimestampType, brokersClock) + "; what is there stays as it is"
	if others := len(writers) - 1; others > 0 {
		m.Advice += fmt.Sprintf("; the same for %d more topics, such as %s", others, writers[1])
	}
	return []Mismatch{m}
}

// forever is longer than any bound.
const forever = time.Duration(math.MaxInt64)

// milliseconds is a bound in milliseconds; none where the broker has no such setting.
func milliseconds(text string) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(time.Millisecond) {
		return forever
	}
	return time.Duration(n) * time.Millisecond
}
