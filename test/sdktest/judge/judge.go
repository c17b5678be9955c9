package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/books"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// Case is what one webhook got of one run.
type Case struct {
	Calls      []scenario.Call
	Deliveries []books.Delivery
	// Adds are members that the SDK sends of its own, as driver.Driver has them.
	Adds []string
	// Began and Ended bound the run, by this machine's clock.
	Began, Ended time.Time
}

// Judge returns what is wrong, a sentence each; none when every call that no
// integrations map filters arrived once, as it was given, and nothing besides.
func (c *Case) Judge() []string {
	var wrong []string
	arrived := map[string][]body{}
	for i := range c.Deliveries {
		d := &c.Deliveries[i]
		if !d.Signed {
			wrong = append(wrong, fmt.Sprintf("a delivery is not signed: %s", d.Body))
		}
		var b body
		if err := json.Unmarshal(d.Body, &b); err != nil {
			wrong = append(wrong, fmt.Sprintf("a delivery is no JSON object: %v: %s", err, d.Body))
			continue
		}
		arrived[b.mark()] = append(arrived[b.mark()], b)
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		wrong = append(wrong, c.call(call, arrived[call.Mark])...)
		delete(arrived, call.Mark)
	}
	for _, mark := range slices.Sorted(maps.Keys(arrived)) {
		wrong = append(wrong, fmt.Sprintf("%d deliveries with the mark %q, which no call has", len(arrived[mark]), mark))
	}
	return append(wrong, repeatedIDs(c.Deliveries)...)
}

// call judges the deliveries of one call.
func (c *Case) call(call *scenario.Call, bodies []body) []string {
	want := 1
	if call.Filtered {
		want = 0
	}
	if len(bodies) != want {
		return []string{fmt.Sprintf("%s: delivered %d times, expected %d", call.Mark, len(bodies), want)}
	}
	var wrong []string
	for _, b := range bodies {
		wrong = append(wrong, c.compare(call, b)...)
	}
	return wrong
}

// repeatedIDs looks for deliveries of different calls under one messageId: a
// receiver that recognises repeats by it would lose them.
func repeatedIDs(deliveries []books.Delivery) []string {
	var wrong []string
	owner := map[string]string{}
	for i := range deliveries {
		var b body
		if json.Unmarshal(deliveries[i].Body, &b) != nil {
			continue
		}
		id, _ := b["messageId"].(string)
		if other, taken := owner[id]; taken && other != b.mark() {
			wrong = append(wrong, fmt.Sprintf("%s and %s have the same messageId %q", other, b.mark(), id))
		}
		owner[id] = b.mark()
	}
	return wrong
}
