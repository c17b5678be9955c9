package engine_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// TestPurchases has the oracle agree on real ones: CDNOW's of 1997 and 1998, from the
// MIT-licensed package lifetimes. Where the whole file is missing, the first thousand.
func TestPurchases(t *testing.T) {
	t.Parallel()
	customers := purchases(t)
	w := newWorld(1)
	for i, when := range []definition.Cond{
		did(definition.Count, nil, within(30), definition.Gte, 2),
		did(definition.Count, nil, definition.Window{}, definition.Gte, 4),
		did(definition.Sum, definition.Path{"n"}, within(90), definition.Gte, 100),
		did(definition.Avg, definition.Path{"n"}, within(365), definition.Lt, 20),
		did(definition.Max, definition.Path{"n"}, within(60), definition.Gt, 50),
		{All: []definition.Cond{
			did(definition.Count, nil, definition.Window{Kind: definition.Between, Far: 90 * 24 * time.Hour, Near: 30 * 24 * time.Hour}, definition.Gte, 1),
			did(definition.Count, nil, within(30), definition.Eq, 0),
		}},
		{Not: new(did(definition.Count, nil, within(180), definition.Gte, 1))},
	} {
		a := &engine.Audience{Version: 1}
		a.ID, a.Enabled, a.History.Full, a.When = name("a", i), true, true, when
		w.rules[a.ID] = &rule{audience: a}
	}
	count := &engine.Trait{Version: 1}
	count.ID, count.Enabled, count.History.Full, count.Take, count.AtMostEvery = "orders", true, true, definition.Count, time.Hour
	count.Event = purchase(within(30))
	w.rules["orders"] = &rule{trait: count}
	if err := w.compile(); err != nil {
		t.Fatal(err)
	}
	if w.filling != nil {
		if err := w.sweep(); err != nil {
			t.Fatal(err)
		}
	}
	for customer, all := range customers {
		w.reset(0)
		w.profiles[0], w.people[0].clock = new(engine.Profile), math.MinInt64
		for _, d := range all {
			if err := w.buy(d); err != nil {
				t.Fatalf("customer %d, %s: %v", customer, time.UnixMilli(d.at).UTC(), err)
			}
		}
		// What is left happens by itself.
		w.now = all[len(all)-1].at + 400*day
		if err := w.wait(0); err != nil {
			t.Fatalf("customer %d: %v", customer, err)
		}
	}
	t.Logf("%d customers: %d changes, %d of them by time", len(customers), w.told, w.timers)
}

func within(days int) definition.Window {
	return definition.Window{Kind: definition.Within, Far: time.Duration(days) * 24 * time.Hour}
}

func purchase(w definition.Window) definition.Event {
	return definition.Event{Type: definition.Track, Name: "Order Completed", Window: w}
}

func did(take definition.Aggregate, of definition.Path, w definition.Window, op definition.Op, n float64) definition.Cond {
	return definition.Cond{Leaf: &definition.Leaf{Did: &definition.Did{
		Event: purchase(w), Take: take, Of: of, Is: definition.Test{{Op: op, Values: number(n)}},
	}}}
}

// buy has the first user buy something, when they did.
func (w *world) buy(d deed) error {
	w.offset++
	d.offset, w.now = w.offset, d.at
	value := encode(&d, 0)
	call, err := parse(value, d, d.at, d.offset)
	if err != nil {
		return err
	}
	p := w.people[0]
	got := w.catalogue.Take(w.profiles[0], &call, time.UnixMilli(w.now), w.isReady)
	want := w.pass(p, w.now)
	p.deeds = append(p.deeds, d)
	if err := w.compare(got, append(want, w.look(p, w.now, engine.CauseEvent)...)); err != nil {
		return err
	}
	return w.check(0)
}

// purchases returns those of each customer, in the order of the file, which is that of
// time.
func purchases(t *testing.T) [][]deed {
	t.Helper()
	file, err := os.Open("../../../../shared/data/cdnow.txt")
	few := 32 // one of so many customers: the others are no different
	if err != nil {
		few = 1
		if file, err = os.Open("testdata/cdnow.txt"); err != nil {
			t.Fatal(err)
		}
	}
	defer file.Close()
	var all [][]deed
	last, customer := "", 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 4 || fields[0] == "customer_id" {
			continue
		}
		at, err1 := time.Parse("20060102", fields[1])
		amount, err2 := strconv.ParseFloat(fields[3], 64)
		if err1 != nil || err2 != nil {
			t.Fatal(fmt.Errorf("%q: %w, %w", fields, err1, err2))
		}
		if fields[0] != last {
			last = fields[0]
			customer++
			if customer%few == 0 {
				all = append(all, nil)
			}
		}
		if customer%few == 0 {
			d := deed{typ: "track", name: "Order Completed", source: "shop", user: true, at: at.UnixMilli(), properties: map[string]any{"n": amount}}
			all[len(all)-1] = append(all[len(all)-1], d)
		}
	}
	if len(all) == 0 {
		t.Fatal("there are no purchases")
	}
	return all
}
