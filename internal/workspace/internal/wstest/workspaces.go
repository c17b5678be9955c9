package wstest

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Canary is a secret that no output may hold.
const Canary = "canary-4f1d"

// CRM returns a workspace of one source and one destination that says
// something in every field.
func CRM() *workspace.Snapshot {
	return (&workspace.Document{
		Sources: []workspace.Source{{ID: "website", Name: "Website", WriteKeyHash: workspace.HashWriteKey("wk_website"), Enabled: true, Identity: &workspace.Identity{Blocked: []string{"guest"}}, Plan: shopPlan()}},
		Destinations: []workspace.Destination{{
			ID: "crm", Type: workspace.TypeWebhooks, Name: "CRM", Sources: []string{"personas", "website"}, Enabled: true, SharedSecret: Canary,
			Endpoints: []workspace.Endpoint{{
				URL:     "https://crm.example.com/hooks/events",
				Headers: []workspace.Header{{Name: "X-Team", Value: "growth"}},
			}},
		}, Warehouse(), {
			ID: "glacier", Type: workspace.TypeArchive, Name: "glacier", Sources: []string{"website"}, Enabled: true,
			Archive: &workspace.Archive{
				Bucket: "calls", Endpoint: "https://s3.example.com", Region: "eu-central-1", Prefix: "shop/", AccessKey: Canary, SecretKey: Canary,
				MaxBytes: 8 << 20, MaxAge: time.Minute,
			},
			Historical: workspace.HistoricalRefuse, HistoricalAfter: 48 * time.Hour,
		}, {
			ID: "shelf", Type: workspace.TypeArchive, Name: "shelf", Enabled: true,
			Archive: &workspace.Archive{Directory: "/var/lib/calls", MaxBytes: 64 << 20, MaxAge: 5 * time.Minute},
		}},
		Audiences: []workspace.Audience{{Audience: parsed(definition.ParseAudience, `{"id":"big_spenders","name":"Big Spenders","stay":"1d","destinations":["crm"],"on_delete":"exit",
			"when":{"all":[{"did":"Order Completed","take":"sum","of":"total","is":{"gte":500},"within":"90d","sources":["website"]},{"not":{"trait":"plan","is":["staff","test"]}}]}}`)}},
		Traits:   []workspace.Trait{{Trait: parsed(definition.ParseTrait, `{"name":"Orders 30d","take":"count","did":"Order Completed","where":{"total":{"gt":0}},"within":"30d","every":"1h"}`)}},
		Identity: &workspace.Identities{AnonymousIDs: &workspace.AnonymousIDs{Max: 50, Per: workspace.Period(7 * 24 * time.Hour)}},
	}).Snapshot()
}

// Warehouse returns a destination of the type topic that says something in every field.
func Warehouse() workspace.Destination {
	return workspace.Destination{
		ID: "warehouse", Type: workspace.TypeTopic, Name: "warehouse", Sources: []string{"website"}, Enabled: true,
		Export: &workspace.Export{Name: "shop.calls", Partitions: 12, Retention: 72 * time.Hour},
	}
}

func parsed[T any](parse func([]byte) (T, error), text string) T {
	d, err := parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return d
}

// shopPlan returns a tracking plan that says something in every field.
func shopPlan() *workspace.TrackingPlan {
	return &workspace.TrackingPlan{
		Action: workspace.PlanBlock,
		Events: map[string]workspace.PlannedObject{
			"Order Completed": {Properties: map[string]workspace.PlannedProperty{
				"order_id": {Type: workspace.StringType, Required: true},
				"total":    {Type: workspace.NumberType},
			}, Closed: true},
			"Signed Out": {},
		},
		OtherEvents: true,
		Identify:    &workspace.PlannedObject{Properties: map[string]workspace.PlannedProperty{"e-mail": {Required: true}}},
		Group:       &workspace.PlannedObject{Closed: true},
		Page:        &workspace.PlannedObject{Properties: map[string]workspace.PlannedProperty{"url": {Type: workspace.StringType}}},
		Screen:      &workspace.PlannedObject{Properties: map[string]workspace.PlannedProperty{"size": {Type: workspace.IntegerType}}},
	}
}

// Secretive returns a workspace whose every secret is the canary.
func Secretive() *workspace.Snapshot {
	return workspace.NewSnapshot(
		[]workspace.Source{{ID: "web", WriteKeyHash: workspace.HashWriteKey(Canary), Enabled: true}},
		[]workspace.Destination{{
			ID: "crm", Type: workspace.TypeWebhooks, Sources: []string{"web"}, Enabled: true, SharedSecret: Canary,
			Endpoints: []workspace.Endpoint{{
				URL:     "https://user:" + Canary + "@h.example.com/hooks?token=" + Canary,
				Headers: []workspace.Header{{Name: "Authorization", Value: Canary}},
			}},
		}, {
			ID: "store", Type: workspace.TypeArchive, Sources: []string{"web"}, Enabled: true,
			Archive: &workspace.Archive{Bucket: "calls", AccessKey: Canary, SecretKey: Canary, MaxBytes: 1 << 20, MaxAge: time.Minute},
		}},
	)
}

// Of returns a workspace of one source and the destinations with ids, and says that it
// has no definitions.
func Of(ids ...string) *workspace.Snapshot {
	destinations := make([]workspace.Destination, len(ids))
	for i, id := range ids {
		destinations[i] = workspace.Destination{
			ID: id, Type: workspace.TypeWebhooks, Name: id, Sources: []string{"website"}, Enabled: true,
			Endpoints: []workspace.Endpoint{{URL: "https://" + id + ".example.com/"}},
		}
	}
	return (&workspace.Document{
		Sources:      []workspace.Source{{ID: "website", WriteKeyHash: workspace.HashWriteKey("wk"), Enabled: true}},
		Destinations: destinations,
		Audiences:    []workspace.Audience{}, Traits: []workspace.Trait{}, // which deletes those there were
	}).Snapshot()
}

// IDs returns the ids of the destinations of a workspace.
func IDs(s *workspace.Snapshot) []string {
	ids := make([]string, len(s.Destinations()))
	for i, d := range s.Destinations() {
		ids[i] = d.ID
	}
	return ids
}

// Lines returns changes as they are printed.
func Lines(changes []workspace.Change) []string {
	lines := make([]string, len(changes))
	for i, c := range changes {
		lines[i] = c.String()
	}
	return lines
}

// Random returns a small workspace out of few ids and values, so that two of
// them have much in common.
func Random(r *rand.Rand) *workspace.Snapshot {
	sources := make([]workspace.Source, r.IntN(4))
	for i := range sources {
		id := "s" + strconv.Itoa(i)
		sources[i] = workspace.Source{
			ID: id, Name: pick(r, "A", "B"), WriteKeyHash: workspace.HashWriteKey(id + pick(r, "1", "2")), Enabled: r.IntN(2) == 0, Plan: RandomPlan(r),
			Identity: pick(r, nil, &workspace.Identity{}, &workspace.Identity{Blocked: []string{"guest"}}, &workspace.Identity{Blocked: []string{"n/a", "guest"}}),
		}
	}
	destinations := make([]workspace.Destination, r.IntN(4))
	for i := range destinations {
		destinations[i] = randomDestination(r, "d"+strconv.Itoa(i), sources)
	}
	doc := workspace.Document{Sources: sources, Destinations: destinations}
	if r.IntN(2) == 0 {
		doc.Identity = &workspace.Identities{AnonymousIDs: pick(r, nil, &workspace.AnonymousIDs{Max: 1 + r.IntN(2), Per: workspace.Period(time.Hour)})}
	}
	return doc.Snapshot()
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func randomDestination(r *rand.Rand, id string, sources []workspace.Source) workspace.Destination {
	d := workspace.Destination{
		ID: id, Type: pick(r, workspace.TypeWebhooks, workspace.TypeWebhooks, workspace.TypeTopic, workspace.TypeArchive), Name: pick(r, "A", "B"), Enabled: r.IntN(2) == 0,
	}
	switch d.Type {
	case workspace.TypeWebhooks:
		d.SharedSecret, d.Endpoints = schemas.Secret(pick(r, "", "s1", "s2")), randomEndpoints(r)
	case workspace.TypeTopic:
		d.Export = pick(r, nil, &workspace.Export{}, &workspace.Export{Name: "calls." + id, Partitions: r.IntN(3)})
	case workspace.TypeArchive:
		d.Archive = pick(r,
			&workspace.Archive{Directory: "/a", MaxBytes: 1 << 20, MaxAge: time.Minute},
			&workspace.Archive{Bucket: "calls", AccessKey: "a", SecretKey: schemas.Secret(pick(r, "s1", "s2")), MaxBytes: 3 << 10, MaxAge: time.Hour})
	}
	for _, source := range sources {
		if r.IntN(2) == 0 {
			d.Sources = append(d.Sources, source.ID)
		}
	}
	return d
}

func randomEndpoints(r *rand.Rand) []workspace.Endpoint {
	all := make([]workspace.Endpoint, 1+r.IntN(workspace.MaxEndpoints))
	for j := range all {
		e := workspace.Endpoint{URL: "https://h" + strconv.Itoa(j) + ".example.com/" + pick(r, "a", "b")}
		for k := range r.IntN(3) {
			e.Headers = append(e.Headers, workspace.Header{Name: "X-" + strconv.Itoa(k), Value: schemas.Secret(pick(r, "1", "2"))})
		}
		all[j] = e
	}
	return all
}

// RandomPlan returns a small tracking plan out of few names, or none.
func RandomPlan(r *rand.Rand) *workspace.TrackingPlan {
	if r.IntN(3) == 0 {
		return nil
	}
	plan := &workspace.TrackingPlan{
		Action: pick(r, workspace.PlanActions()...), OtherEvents: r.IntN(2) == 0,
		Identify: randomObject(r), Group: randomObject(r), Page: randomObject(r), Screen: randomObject(r),
	}
	if r.IntN(2) == 0 {
		plan.Events = make(map[string]workspace.PlannedObject)
		for range r.IntN(3) {
			plan.Events[pick(r, "Order Completed", `the "other"`, "e")] = workspace.PlannedObject{Closed: r.IntN(2) == 0, Properties: randomProperties(r)}
		}
	}
	return plan
}

func randomObject(r *rand.Rand) *workspace.PlannedObject {
	if r.IntN(2) == 0 {
		return nil
	}
	return &workspace.PlannedObject{Closed: r.IntN(2) == 0, Properties: randomProperties(r)}
}

func randomProperties(r *rand.Rand) map[string]workspace.PlannedProperty {
	var properties map[string]workspace.PlannedProperty
	for range r.IntN(3) {
		if properties == nil {
			properties = make(map[string]workspace.PlannedProperty)
		}
		types := append(workspace.PropertyTypes(), workspace.AnyType)
		properties[pick(r, "a", "b", "naïve")] = workspace.PlannedProperty{Type: pick(r, types...), Required: r.IntN(2) == 0}
	}
	return properties
}
