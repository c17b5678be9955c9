package wstest

import (
	"math/rand/v2"
	"strconv"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Canary is a secret that no output may hold.
const Canary = "canary-4f1d"

// CRM returns a workspace of one source and one destination that says
// something in every field.
func CRM() *workspace.Snapshot {
	return workspace.NewSnapshot(
		[]workspace.Source{{ID: "website", Name: "Website", WriteKeyHash: workspace.HashWriteKey("wk_website"), Enabled: true}},
		[]workspace.Destination{{
			ID: "crm", Type: workspace.TypeWebhooks, Name: "CRM", Sources: []string{"website"}, Enabled: true, SharedSecret: Canary,
			Endpoints: []workspace.Endpoint{{
				URL:     "https://crm.example.com/hooks/events",
				Headers: []workspace.Header{{Name: "X-Team", Value: "growth"}},
			}},
		}},
	)
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
		}},
	)
}

// Of returns a workspace of one source and the destinations with ids.
func Of(ids ...string) *workspace.Snapshot {
	destinations := make([]workspace.Destination, len(ids))
	for i, id := range ids {
		destinations[i] = workspace.Destination{
			ID: id, Type: workspace.TypeWebhooks, Name: id, Sources: []string{"website"}, Enabled: true,
			Endpoints: []workspace.Endpoint{{URL: "https://" + id + ".example.com/"}},
		}
	}
	return workspace.NewSnapshot([]workspace.Source{{ID: "website", WriteKeyHash: workspace.HashWriteKey("wk"), Enabled: true}}, destinations)
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
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	sources := make([]workspace.Source, r.IntN(4))
	for i := range sources {
		id := "s" + strconv.Itoa(i)
		sources[i] = workspace.Source{ID: id, Name: pick("A", "B"), WriteKeyHash: workspace.HashWriteKey(id + pick("1", "2")), Enabled: r.IntN(2) == 0}
	}
	destinations := make([]workspace.Destination, r.IntN(4))
	for i := range destinations {
		d := workspace.Destination{
			ID: "d" + strconv.Itoa(i), Type: workspace.TypeWebhooks, Name: pick("A", "B"), Enabled: r.IntN(2) == 0,
			SharedSecret: schemas.Secret(pick("", "s1", "s2")),
		}
		for _, source := range sources {
			if r.IntN(2) == 0 {
				d.Sources = append(d.Sources, source.ID)
			}
		}
		for j := range 1 + r.IntN(workspace.MaxEndpoints) {
			e := workspace.Endpoint{URL: "https://h" + strconv.Itoa(j) + ".example.com/" + pick("a", "b")}
			for k := range r.IntN(3) {
				e.Headers = append(e.Headers, workspace.Header{Name: "X-" + strconv.Itoa(k), Value: schemas.Secret(pick("1", "2"))})
			}
			d.Endpoints = append(d.Endpoints, e)
		}
		destinations[i] = d
	}
	return workspace.NewSnapshot(sources, destinations)
}
