package judge

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// compare says in which members a body differs from what the call was given.
func (c *Case) compare(call *scenario.Call, b body) []string {
	want := expected(call)
	var wrong []string
	note := func(format string, args ...any) {
		wrong = append(wrong, call.Mark+": "+fmt.Sprintf(format, args...))
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		got, there := b[key]
		if !there {
			note("%s is missing", key)
			continue
		}
		if object, ok := got.(map[string]any); ok && (key == "properties" || key == "traits") {
			got = c.without(call.Type+"."+key, object, want[key])
		}
		if !reflect.DeepEqual(got, want[key]) {
			note("%s is %v, expected %v", key, got, want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, given := want[key]; !given && !c.free(call, key) {
			note("%s is %v, and was not given", key, b[key])
		}
	}
	if problem := contains("context", b["context"], anyMap(call.Context)); problem != "" {
		note("%s", problem)
	}
	if problem := c.timestamp(call, b); problem != "" {
		note("%s", problem)
	}
	return wrong
}

// expected returns the members of the body that follow from the call alone, as
// spec.md, Webhook delivery bodies, has them.
func expected(call *scenario.Call) map[string]any {
	want := map[string]any{"version": 1.0, "type": call.Type}
	set := func(key, value string) {
		if value != "" {
			want[key] = value
		}
	}
	set("userId", call.UserID)
	set("anonymousId", call.AnonymousID)
	set("groupId", call.GroupID)
	set("event", call.Event)
	set("name", call.Name)
	set("messageId", call.MessageID)
	switch call.Type {
	case "identify", "group":
		want["traits"] = anyMap(call.Traits)
	case "alias":
		delete(want, "userId")
		set("User ID", call.UserID)
		set("Previous ID", call.PreviousID)
	case "page", "screen":
		set("category", call.Category)
		fallthrough
	default:
		want["properties"] = anyMap(call.Properties)
	}
	return want
}

func anyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// free reports whether a body may hold a member that the call was not given:
// those that the pipeline fills, and what the SDK adds.
func (c *Case) free(call *scenario.Call, key string) bool {
	return key == "context" || key == "timestamp" || key == "messageId" ||
		slices.Contains(c.Adds, key) || slices.Contains(c.Adds, call.Type+"."+key)
}

// without returns the object without what the SDK adds to it at path, unless the
// call was given that.
func (c *Case) without(path string, object map[string]any, want any) map[string]any {
	given, _ := want.(map[string]any)
	left := maps.Clone(object)
	for _, add := range c.Adds {
		if key, below := strings.CutPrefix(add, path+"."); below {
			if _, ok := given[key]; !ok {
				delete(left, key)
			}
		}
	}
	return left
}

// contains says where got lacks something of want. An SDK puts much of its own
// into the context, so objects may hold more than was given.
func contains(path string, got, want any) string {
	wanted, ok := want.(map[string]any)
	if !ok {
		if !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("%s is %v, expected %v", path, got, want)
		}
		return ""
	}
	object, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s is %v, expected an object", path, got)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if problem := contains(path+"."+key, object[key], wanted[key]); problem != "" {
			return problem
		}
	}
	return ""
}

// coarse is the resolution of the time stamps of Go 2.
const coarse = time.Second

// timestamp judges the time. A given one is corrected by the way from the
// client's sentAt to the receipt (protocol, 10), and an SDK that sends a request
// again leaves its sentAt as it was: it may be late by as much as the run took.
func (c *Case) timestamp(call *scenario.Call, b body) string {
	text, _ := b["timestamp"].(string)
	got, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	if err != nil {
		return fmt.Sprintf("timestamp is %q, expected UTC with milliseconds", text)
	}
	from, to := c.Began, c.Ended
	if call.Timestamp != "" {
		given, err := time.Parse("2006-01-02T15:04:05.000Z", call.Timestamp)
		if err != nil {
			return fmt.Sprintf("the scenario's timestamp: %v", err)
		}
		from, to = given, given.Add(c.Ended.Sub(c.Began))
	}
	if got.Before(from.Add(-coarse)) || got.After(to.Add(coarse)) {
		return fmt.Sprintf("timestamp is %s, expected it from %s to %s", text, from.UTC().Format(time.RFC3339Nano), to.UTC().Format(time.RFC3339Nano))
	}
	return ""
}
