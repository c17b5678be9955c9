package workspace

import (
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/schemas"
)

// What the example workspace says, for those who send to it and those who
// verify what it delivers.
const (
	ExampleWriteKey     = "wk_website"
	ExampleSharedSecret = schemas.Secret("example-secret")
)

// Example returns the workspace that is in force where nobody applied one: the
// source `website` and the destination `example`, which delivers its calls to
// receiverURL, signed with [ExampleSharedSecret], and with them what is told of the
// audience `new_pros` and the computed trait `sign_ups`.
func Example(receiverURL string) *Snapshot {
	signedUp := definition.Event{Type: definition.Track, Name: "Signed Up"}
	return (&Document{
		Sources: []Source{{ID: "website", Name: "Website", WriteKeyHash: HashWriteKey(ExampleWriteKey), Enabled: true}},
		Destinations: []Destination{{
			ID: "example", Type: TypeWebhooks, Name: "Example",
			Sources: []string{"website", SourcePersonas}, Enabled: true,
			SharedSecret: ExampleSharedSecret,
			Endpoints:    []Endpoint{{URL: receiverURL}},
		}},
		Audiences: []Audience{{Audience: exampleAudience(signedUp)}},
		Traits:    []Trait{{Trait: definition.Trait{Common: exampleCommon("Sign-ups"), Take: definition.Count, Event: signedUp}}},
	}).Snapshot()
}

// exampleAudience has who signed up for a plan within the last hour.
func exampleAudience(signedUp definition.Event) definition.Audience {
	signedUp.Where = [][]definition.Pred{{{
		Path: definition.Path{"plan"},
		Test: definition.Test{{Op: definition.Eq, Values: []definition.Value{{Kind: definition.Text, Text: "pro"}}}},
	}}}
	signedUp.Window = definition.Window{Kind: definition.Within, Far: time.Hour}
	once := definition.Test{{Op: definition.Gte, Values: []definition.Value{{Kind: definition.Number, Number: 1}}}}
	return definition.Audience{
		Common: exampleCommon("New pros"), OnDelete: definition.OnDeleteKeep,
		When: definition.Cond{Leaf: &definition.Leaf{Did: &definition.Did{Event: signedUp, Take: definition.Count, Is: once}}},
	}
}

func exampleCommon(name string) definition.Common {
	return definition.Common{
		ID: definition.SnakeCase(name), Name: name, Enabled: true,
		History: definition.History{Full: true}, Send: definition.SendIdentify,
	}
}
