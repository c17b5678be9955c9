package workspace

import "github.com/anabranch/anabranch/schemas"

// What the example workspace says, for those who send to it and those who
// verify what it delivers.
const (
	ExampleWriteKey     = "wk_website"
	ExampleSharedSecret = schemas.Secret("example-secret")
)

// Example returns the workspace that is in force where nobody applied one: the
// source `website` and the destination `example`, which delivers its calls to
// receiverURL, signed with [ExampleSharedSecret].
func Example(receiverURL string) *Snapshot {
	return NewSnapshot(
		[]Source{{ID: "website", Name: "Website", WriteKeyHash: HashWriteKey(ExampleWriteKey), Enabled: true}},
		[]Destination{{
			ID: "example", Type: TypeWebhooks, Name: "Example",
			Sources: []string{"website"}, Enabled: true,
			SharedSecret: ExampleSharedSecret,
			Endpoints:    []Endpoint{{URL: receiverURL}},
		}},
	)
}
